import { defineAggregate, ownKey, ownStream, sharedStream } from '@app/kernel';
import { conversationDecider } from './conversation.decider';
import { conversationEvents } from './conversation.events';
import { conversationIntegrations } from './conversation.integrations';

/** Messages have one key with their conversation and go with it. */
export const conversationAggregate = defineAggregate(conversationDecider, conversationEvents, {
  erasure: {
    by: { ConversationDeleted: ownKey },
    again: (decisions, id, meta) => decisions.transact(conversationDecider, id, { type: 'Remove' }, meta),
  },
  integrations: conversationIntegrations,
  kinds: { conversation: ownStream('conversation'), message: sharedStream() },
});
