import { conversationKind, type ConversationEvent } from '@app/conversations';
import { idOf, never, type RecordedEvent, sensitive } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import type { Operation } from '@app/read-store';
import { z } from 'zod';

/** A conversation without its messages; the title may be erased. */
export const conversationRow = z.object({
  id: z.string(),
  agentId: z.string(),
  spaceId: z.string(),
  userId: z.string(),
  title: sensitive(z.string()),
  /** The message that the title is made from, and under whose key it is; null where its user gave it. */
  titleOf: z.string().nullable(),
  kind: conversationKind,
  archived: z.boolean(),
  messageCount: z.number().int(),
  createdAt: z.string(),
  updatedAt: z.string(),
  revision: z.number().int(),
});
export type ConversationRow = z.output<typeof conversationRow>;

/** Conversations until they are deleted. A policy deletes those of a deleted Agent, Space or user one by one. */
export const conversations: RowProjection = {
  kind: 'rows',
  name: 'conversations',
  version: 2,
  perStream: true,
  types: [
    'ConversationStarted',
    'UserMessageAdded',
    'AssistantMessageAdded',
    'MessageDeleted',
    'ConversationTitled',
    'ConversationCompacted',
    'CheckpointDeleted',
    'AnswerRequested',
    'FeedbackGiven',
    'AssistantMessageContinued',
    'ToolApprovalRequested',
    'ToolApprovalResponded',
    'ConversationRenamed',
    'ConversationArchived',
    'ConversationUnarchived',
    'ConversationDeleted',
  ],
  row: conversationRow,
  indexes: [
    {
      name: 'newest-of-user',
      fields: [{ field: 'userId' }, { field: 'agentId' }, { field: 'createdAt', order: 'desc' }],
    },
    { name: 'of-agent', fields: [{ field: 'agentId' }, { field: 'createdAt', order: 'desc' }] },
    { name: 'of-space', fields: [{ field: 'spaceId' }, { field: 'createdAt', order: 'desc' }] },
  ],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<ConversationEvent>;
    const { stream, recordedAt, revision } = event.context;
    const key = idOf(stream);
    const patch = (fields: Partial<ConversationRow>): Operation => ({
      op: 'patch',
      key,
      fields: { ...fields, updatedAt: recordedAt, revision },
    });
    switch (event.type) {
      case 'ConversationStarted': {
        const { conversationId: id, messageId: titleOf, ...data } = event.data;
        return [
          {
            op: 'put',
            key,
            row: {
              id,
              ...data,
              titleOf,
              archived: false,
              messageCount: 0,
              createdAt: recordedAt,
              updatedAt: recordedAt,
              revision,
            },
          },
        ];
      }
      case 'UserMessageAdded':
      case 'AssistantMessageAdded':
        return [{ op: 'increment', key, field: 'messageCount', by: 1 }, patch({})];
      case 'MessageDeleted':
        return [
          ...(event.data.isUnfinished === true
            ? []
            : [{ op: 'increment' as const, key, field: 'messageCount', by: -1 }]),
          patch({}),
        ];
      case 'ConversationTitled':
        return [patch({ title: event.data.title, titleOf: event.data.messageId })];
      case 'ConversationCompacted':
      case 'CheckpointDeleted':
      case 'AnswerRequested':
      case 'FeedbackGiven':
      case 'AssistantMessageContinued':
      case 'ToolApprovalRequested':
      case 'ToolApprovalResponded':
        return [{ op: 'patch', key, fields: { revision } }];
      case 'ConversationRenamed':
        return [patch({ title: event.data.title, titleOf: null })];
      case 'ConversationArchived':
        return [patch({ archived: true })];
      case 'ConversationUnarchived':
        return [patch({ archived: false })];
      case 'ConversationDeleted':
        return [{ op: 'remove', key }];
      default:
        return never(event);
    }
  },
};
