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
  /** While it is `streaming` its parts are empty: they are followed at `/stream`. */
  status: z.enum(['complete', 'streaming', 'stopped', 'failed']),
  finishReason: finishReason.nullable(),
  usage: invocationUsage.nullable(),
  model: z.string().nullable(),
  degraded: z.array(degradedPart).exactOptional(),
  /** Orders the messages of a conversation. */
  sequence: z.number().int(),
  createdAt: z.string(),
});
export type MessageRow = z.output<typeof messageRow>;

/** Messages until their conversation is deleted. */
export const messages: RowProjection = {
  kind: 'rows',
  name: 'messages',
  version: 2,
  perStream: true,
  types: ['UserMessageAdded', 'AssistantMessageContinued', 'AssistantMessageAdded', 'ConversationDeleted'],
  row: messageRow,
  indexes: [
    { name: 'newest-of-conversation', fields: [{ field: 'conversationId' }, { field: 'sequence', order: 'desc' }] },
  ],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<ConversationEvent>;
    const { recordedAt: createdAt, revision: sequence, stream } = event.context;
    if (event.type === 'UserMessageAdded') {
      const { messageId: id, conversationId, parentId, parts } = event.data;
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
        sequence,
        createdAt,
      };
      return [{ op: 'put', key: id, row }];
    }
    if (event.type === 'AssistantMessageAdded') {
      const { messageId: id, errorCode: _, ...data } = event.data;
      return [{ op: 'put', key: id, row: { id, role: 'assistant', ...data, sequence, createdAt } }];
    }
    return [{ op: 'removeWhere', where: { conversationId: idOf(stream) } }];
  },
};
