import { defineAggregate, ownKey, ownStream, sharedStream } from '@app/kernel';
import { conversationDecider } from './conversation.decider';
import { conversationEvents } from './conversation.events';
import { conversationIntegrations } from './conversation.integrations';

/**
 * Each message and each summary has its own data key, and is erased alone or with its conversation. Older ones share
 * the key of their conversation.
 */
export const conversationAggregate = defineAggregate(conversationDecider, conversationEvents, {
  erasure: {
    by: { ConversationDeleted: ownKey },
    again: (decisions, id, meta) => decisions.transact(conversationDecider, id, { type: 'Remove' }, meta),
    entities: {
      by: {
        MessageDeleted: ({ data }) => data.messageId,
        CheckpointDeleted: ({ data }) => data.checkpointId,
      },
      // It is one of the two, of which the other says nothing.
      again: async (decisions, id, entity, meta) => {
        await decisions.transact(conversationDecider, id, { type: 'RemoveMessage', messageId: entity }, meta);
        await decisions.transact(conversationDecider, id, { type: 'RemoveCheckpoint', checkpointId: entity }, meta);
      },
    },
  },
  integrations: conversationIntegrations,
  kinds: { conversation: ownStream('conversation'), message: sharedStream() },
});
