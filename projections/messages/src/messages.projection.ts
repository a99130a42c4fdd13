import { type ConversationEvent, degradedPart, finishReason, messagePart } from '@app/conversations';
import { idOf, type RecordedEvent, sensitive } from '@app/kernel';
import { invocationUsage } from '@app/models';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';

/** A message of a conversation; its parts may be erased. */
export const messageRow = z.object({
  id: z.string(),
  conversationId: z.string(),
  parentId: z.string().nullable(),
  role: z.enum(['user', 'assistant']),
  parts: sensitive(z.array(messagePart)),
  /** While it is `streaming` its parts are empty: what was said until now stands with its turn. */
  status: z.enum(['complete', 'streaming', 'waiting', 'stopped', 'failed']),
  finishReason: finishReason.nullable(),
  usage: invocationUsage.nullable(),
  model: z.string().nullable(),
  degraded: z.array(degradedPart).exactOptional(),
  /** Where its turn came from; null where that is not known: of an answer under way, and of those before 1.6. */
  channel: z.enum(['api', 'web', 'embed', 'app']).nullable(),
  feedback: z.object({ rating: z.enum(['up', 'down']), comment: sensitive(z.string()).nullable() }).nullable(),
  /** Orders the messages of a conversation. */
  sequence: z.number().int(),
  createdAt: z.string(),
});
export type MessageRow = z.output<typeof messageRow>;

/** Messages until they, or their conversations, are deleted. */
export const messages: RowProjection = {
  kind: 'rows',
  name: 'messages',
  version: 3,
  perStream: true,
  types: [
    'UserMessageAdded',
    'AssistantMessageContinued',
    'ToolApprovalRequested',
    'ToolApprovalResponded',
    'AssistantMessageAdded',
    'FeedbackGiven',
    'MessageDeleted',
    'ConversationDeleted',
  ],
  row: messageRow,
  indexes: [
    { name: 'newest-of-conversation', fields: [{ field: 'conversationId' }, { field: 'sequence', order: 'desc' }] },
  ],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<ConversationEvent>;
    const { recordedAt: createdAt, revision: sequence, stream } = event.context;
    if (event.type === 'UserMessageAdded') {
      const { messageId: id, conversationId, parentId, parts, channel } = event.data;
      const row: MessageRow = {
        id,
        conversationId,
        parentId,
        role: 'user',
        parts,
        status: 'complete',
        finishReason: null,
        usage: null,
        model: null,
        channel,
        feedback: null,
        sequence,
        createdAt,
      };
      return [{ op: 'put', key: id, row }];
    }
    if (event.type === 'AssistantMessageContinued') {
      const { messageId: id, conversationId, parentId } = event.data;
      const row: MessageRow = {
        id,
        conversationId,
        parentId,
        role: 'assistant',
        parts: [],
        status: 'streaming',
        finishReason: null,
        usage: null,
        model: null,
        channel: null,
        feedback: null,
        sequence,
        createdAt,
      };
      return [{ op: 'put', key: id, row }];
    }
    if (event.type === 'ToolApprovalRequested')
      return [{ op: 'patch', key: event.data.messageId, fields: { status: 'waiting' } }];
    if (event.type === 'ToolApprovalResponded')
      return [{ op: 'patch', key: event.data.messageId, fields: { status: 'streaming' } }];
    if (event.type === 'AssistantMessageAdded') {
      const { messageId: id, errorCode: _, channel = null, ...data } = event.data;
      return [
        { op: 'put', key: id, row: { id, role: 'assistant', ...data, channel, feedback: null, sequence, createdAt } },
      ];
    }
    if (event.type === 'FeedbackGiven') {
      const { messageId: key, rating, comment = null } = event.data;
      return [{ op: 'patch', key, fields: { feedback: rating === null ? null : { rating, comment } } }];
    }
    if (event.type === 'MessageDeleted') {
      const { messageId, parentId, childIds } = event.data;
      return [
        { op: 'remove', key: messageId },
        ...childIds.map((key) => ({ op: 'patch' as const, key, fields: { parentId } })),
      ];
    }
    return [{ op: 'removeWhere', where: { conversationId: idOf(stream) } }];
  },
};
