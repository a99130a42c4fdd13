import { defineIntegration, type Integrations, integrationEvent } from '@app/kernel';
import { z } from 'zod';
import { conversationKind, type ConversationEvent, finishReason } from './conversation.events';

const subject = 'conversations';
const id = z.uuid();
const tokens = z.number().int().nonnegative();

const created = defineIntegration({
  name: 'conversation.created',
  version: 1,
  subject,
  description: 'A user started a conversation with an Agent.',
  data: z.object({ conversationId: id, agentId: id, spaceId: id, userId: id, kind: conversationKind }),
});
const answered = defineIntegration({
  name: 'conversation.answered',
  version: 1,
  subject,
  description:
    'An Agent finished a message, or could not. `usage` is null where no model was called; `cost` is a decimal in `currency`.',
  data: z.object({
    conversationId: id,
    messageId: id,
    status: z.enum(['complete', 'stopped', 'failed']),
    finishReason,
    errorCode: z.string().nullable(),
    model: z.string(),
    usage: z
      .object({
        inputTokens: tokens,
        outputTokens: tokens,
        totalTokens: tokens,
        cost: z.string(),
        currency: z.string(),
      })
      .nullable(),
  }),
});
const updated = defineIntegration({
  name: 'conversation.updated',
  version: 1,
  subject,
  description: 'A conversation changed: which fields, not their values.',
  data: z.object({ conversationId: id, changed: z.array(z.enum(['title'])) }),
});
const archived = defineIntegration({
  name: 'conversation.archived',
  version: 1,
  subject,
  description: 'A conversation was archived.',
  data: z.object({ conversationId: id }),
});
const unarchived = defineIntegration({
  name: 'conversation.unarchived',
  version: 1,
  subject,
  description: 'An archived conversation was restored to the lists.',
  data: z.object({ conversationId: id }),
});
const messageDeleted = defineIntegration({
  name: 'conversation.message-deleted',
  version: 1,
  subject,
  description: 'A message was deleted permanently.',
  data: z.object({ conversationId: id, messageId: id }),
});
const deleted = defineIntegration({
  name: 'conversation.deleted',
  version: 1,
  subject,
  description: 'A conversation was deleted permanently, with all its messages.',
  data: z.object({ conversationId: id }),
});

/**
 * A private conversation never reaches an App: other systems learn nothing of it. Lists of conversations for Apps use
 * this, too.
 */
export const reachesApps = ({ kind }: { readonly kind?: unknown }): boolean => kind === 'normal';

export const conversationIntegrations: Integrations<ConversationEvent> = {
  isPrivate: (first) => !reachesApps(first),
  definitions: [created, answered, updated, archived, unarchived, messageDeleted, deleted],
  mapping: {
    ConversationStarted: ({ agentId, spaceId, userId, kind }, conversationId) =>
      integrationEvent(created, { conversationId, agentId, spaceId, userId, kind }),
    AssistantMessageAdded: (
      { messageId, status, finishReason: reason, errorCode = null, model, usage },
      conversationId,
    ) =>
      integrationEvent(answered, {
        conversationId,
        messageId,
        status,
        finishReason: reason,
        errorCode,
        model,
        usage: usage && {
          inputTokens: usage.inputTokens,
          outputTokens: usage.outputTokens,
          totalTokens: usage.totalTokens,
          cost: usage.cost,
          currency: usage.currency,
        },
      }),
    ConversationRenamed: (_, conversationId) => integrationEvent(updated, { conversationId, changed: ['title'] }),
    ConversationTitled: (_, conversationId) => integrationEvent(updated, { conversationId, changed: ['title'] }),
    MessageDeleted: ({ messageId }, conversationId) => integrationEvent(messageDeleted, { conversationId, messageId }),
    ConversationArchived: (_, conversationId) => integrationEvent(archived, { conversationId }),
    ConversationUnarchived: (_, conversationId) => integrationEvent(unarchived, { conversationId }),
    ConversationDeleted: (_, conversationId) => integrationEvent(deleted, { conversationId }),
  },
};
