import { defineAggregate, ownKey, ownStream, sharedStream } from '@app/kernel';
import { conversationDecider } from './conversation.decider';
import { conversationEvents } from './conversation.events';
import { conversationIntegrations } from './conversation.integrations';

/** Messages share their conversation's key and are deleted with it. */
export const conversationAggregate = defineAggregate(conversationDecider, conversationEvents, {
  erasure: {
    by: { ConversationDeleted: ownKey },
    again: (decisions, id, meta) => decisions.transact(conversationDecider, id, { type: 'Remove' }, meta),
  },
  integrations: conversationIntegrations,
  kinds: { conversation: ownStream('conversation'), message: sharedStream() },
});
