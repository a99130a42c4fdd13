import {
  type Clock,
  type Decisions,
  idOf,
  reactionTo,
  type RecordedEvent,
  stepOf,
  type StreamReader,
} from '@app/kernel';
import type { Policy } from '@app/projecting';
import { conversationDecider } from '../conversation/conversation.decider';
import type { ConversationEvent } from '../conversation/conversation.events';

const NAME = 'delete-conversations-of-the-deleted';

export interface ConversationDeletionParts {
  readonly decisions: Decisions;
  readonly log: StreamReader;
  readonly clock: Clock;
  /** Ids of the conversations of an Agent, a Space or a user, complete up to the event at `position`. */
  readonly conversationsOf: (
    owner: { readonly agentId: string } | { readonly spaceId: string } | { readonly userId: string },
    position: string,
  ) => Promise<readonly string[]>;
}

/**
 * Deletes the conversations of an Agent, a Space or a user with it. Those begun before the deletion stand in the view when
 * it is asked; one begun behind it, by a request that was under way, is met as its own event.
 */
export const deleteConversations = ({ decisions, log, clock, conversationsOf }: ConversationDeletionParts): Policy => {
  const remove = async (conversationId: string, event: RecordedEvent): Promise<void> => {
    await decisions.transact(
      conversationDecider,
      conversationId,
      { type: 'Remove' },
      stepOf(reactionTo(event, NAME, clock.now()), conversationId),
    );
  };
  const isDeleted = async (stream: string, type: string): Promise<boolean> =>
    (await log.readStream(stream, { direction: 'backwards', limit: 1 }))[0]?.type === type;

  const react = async (event: RecordedEvent): Promise<void> => {
    const id = idOf(event.context.stream);
    if (event.type !== 'ConversationStarted') {
      for (const conversationId of await conversationsOf(ownerOf(event.type, id), event.context.position))
        await remove(conversationId, event);
      return;
    }
    const { agentId, spaceId, userId } = (
      event as RecordedEvent & Extract<ConversationEvent, { type: 'ConversationStarted' }>
    ).data;
    const orphaned = [
      isDeleted(`agent-${agentId}`, 'AgentDeleted'),
      isDeleted(`space-${spaceId}`, 'SpaceDeleted'),
      isDeleted(`user-${userId}`, 'UserDeleted'),
    ];
    if ((await Promise.all(orphaned)).some(Boolean)) await remove(id, event);
  };
  return { name: NAME, types: ['AgentDeleted', 'SpaceDeleted', 'UserDeleted', 'ConversationStarted'], react };
};

const ownerOf = (
  type: string,
  id: string,
): { readonly agentId: string } | { readonly spaceId: string } | { readonly userId: string } => {
  if (type === 'AgentDeleted') return { agentId: id };
  return type === 'SpaceDeleted' ? { spaceId: id } : { userId: id };
};
