import { EVENT_LOG } from '@app/event-log';
import {
  type Clock,
  CLOCK,
  Decisions,
  eachOfAll,
  idOf,
  isDeleted,
  reactionTo,
  type RecordedEvent,
  stepOf,
  type StreamReader,
} from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { Turns } from '../answering/turns';
import { conversationDecider } from '../conversation/conversation.decider';
import type { ConversationEvent } from '../conversation/conversation.events';
import { type ConversationOwner, CONVERSATIONS_OF, type ConversationsOf } from '../lookups';

type ConversationStarted = RecordedEvent & Extract<ConversationEvent, { type: 'ConversationStarted' }>;

/**
 * Deletes the conversations of an Agent, a Space or a user with it. The view has those that began before the deletion.
 * If a running request begins one after it, its own event is handled. Running answers are stopped.
 */
@PolicyHandler()
export class DeleteConversationsOfTheDeleted implements Policy {
  readonly name = 'delete-conversations-of-the-deleted';
  readonly types = ['AgentDeleted', 'SpaceDeleted', 'UserDeleted', 'ConversationStarted'];

  constructor(
    private readonly decisions: Decisions,
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONVERSATIONS_OF) private readonly conversationsOf: ConversationsOf,
    private readonly turns: Turns,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const id = idOf(event.context.stream);
    if (event.type !== 'ConversationStarted') {
      await eachOfAll(await this.conversationsOf(ownerOf(event.type, id), event.context.position), (conversationId) =>
        this.remove(conversationId, event),
      );
    } else if (await this.isOrphaned(event as ConversationStarted)) await this.remove(id, event);
  }

  private async isOrphaned({ data: { agentId, spaceId, userId } }: ConversationStarted): Promise<boolean> {
    const gone = await Promise.all([
      isDeleted(this.log, `agent-${agentId}`, 'AgentDeleted'),
      isDeleted(this.log, `space-${spaceId}`, 'SpaceDeleted'),
      isDeleted(this.log, `user-${userId}`, 'UserDeleted'),
    ]);
    return gone.some(Boolean);
  }

  private async remove(conversationId: string, event: RecordedEvent): Promise<void> {
    const meta = stepOf(reactionTo(event, this.name, this.clock.now()), conversationId);
    await this.decisions.transact(conversationDecider, conversationId, { type: 'Remove' }, meta);
    await this.turns.stopGone(conversationId);
  }
}

const ownerOf = (type: string, id: string): ConversationOwner => {
  if (type === 'AgentDeleted') return { agentId: id };
  return type === 'SpaceDeleted' ? { spaceId: id } : { userId: id };
};
