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
import { spaceDecider } from '../space/space.decider';
import { isDeleted } from './is-deleted';

const NAME = 'forget-members-who-are-gone';

export interface ForgetParts {
  readonly decisions: Decisions;
  readonly log: StreamReader;
  readonly clock: Clock;
  /** Ids of the Spaces that a user is a member of, complete up to the event at `position`. */
  readonly spacesOf: (userId: string, position: string) => Promise<readonly string[]>;
}

/** Ends the memberships of a deleted user, even as the last owner. A membership made meanwhile is handled by its own event. */
export const forgetMembers = ({ decisions, log, clock, spacesOf }: ForgetParts): Policy => {
  const forget = async (spaceId: string, userId: string, event: RecordedEvent): Promise<void> => {
    await decisions.transact(
      spaceDecider,
      spaceId,
      { type: 'ForgetMember', userId },
      stepOf(reactionTo(event, NAME, clock.now()), spaceId),
    );
  };
  return {
    name: NAME,
    types: ['UserDeleted', 'SpaceMemberAdded'],
    react: async (event) => {
      const id = idOf(event.context.stream);
      if (event.type === 'UserDeleted') {
        for (const spaceId of await spacesOf(id, event.context.position)) await forget(spaceId, id, event);
        return;
      }
      const { userId } = event.data as { readonly userId: string };
      if (await isDeleted(log, `user-${userId}`, 'UserDeleted')) await forget(id, userId, event);
    },
  };
};
