import { Decisions } from '@app/kernel';
import { DeletionWithOwner, type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { Turns } from '../answering/turns';
import { conversationDecider } from '../conversation/conversation.decider';
import { conversationStarted } from '../conversation/conversation.events';
import { CONVERSATIONS_OF, type ConversationsOf } from '../lookups';

/** Deletes the conversations of an Agent, a Space or a user with it. Running answers are stopped. */
@PolicyHandler()
export class DeleteConversationsOfTheDeleted implements Policy {
  readonly name = 'delete-conversations-of-the-deleted';
  readonly types: Policy['types'];
  readonly react: Policy['react'];

  constructor(
    decisions: Decisions,
    deletion: DeletionWithOwner,
    @Inject(CONVERSATIONS_OF) conversationsOf: ConversationsOf,
    turns: Turns,
  ) {
    ({ types: this.types, react: this.react } = deletion.of(this.name, {
      with: {
        AgentDeleted: (agentId, position) => conversationsOf({ agentId }, position),
        SpaceDeleted: (spaceId, position) => conversationsOf({ spaceId }, position),
        UserDeleted: (userId, position) => conversationsOf({ userId }, position),
      },
      made: conversationStarted,
      remove: async (conversationId, meta) => {
        await decisions.transact(conversationDecider, conversationId, { type: 'Remove' }, meta);
        await turns.stopGone(conversationId);
      },
    }));
  }
}
