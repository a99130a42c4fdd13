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
import { SPACES_OF_USER, type SpacesOfUser } from '../lookups';
import { spaceDecider } from '../space/space.decider';

/**
 * Ends the memberships of a deleted user, even as the last owner. A membership made meanwhile is handled by its own
 * event: `SpaceCreated` for the first owner.
 */
@PolicyHandler()
export class ForgetMembersWhoAreGone implements Policy {
  readonly name = 'forget-members-who-are-gone';
  readonly types = ['UserDeleted', 'SpaceMemberAdded', 'SpaceCreated'];

  constructor(
    private readonly decisions: Decisions,
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(SPACES_OF_USER) private readonly spacesOf: SpacesOfUser,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const id = idOf(event.context.stream);
    if (event.type === 'UserDeleted') {
      await eachOfAll(await this.spacesOf(id, event.context.position), (spaceId) => this.forget(spaceId, id, event));
      return;
    }
    const userId = madeMember(event);
    if (await isDeleted(this.log, `user-${userId}`, 'UserDeleted')) await this.forget(id, userId, event);
  }

  private async forget(spaceId: string, userId: string, event: RecordedEvent): Promise<void> {
    const meta = stepOf(reactionTo(event, this.name, this.clock.now()), spaceId);
    await this.decisions.transact(spaceDecider, spaceId, { type: 'ForgetMember', userId }, meta);
  }
}

const madeMember = ({ data }: RecordedEvent): string => {
  const made = data as { readonly userId: string } | { readonly ownerId: string };
  return 'ownerId' in made ? made.ownerId : made.userId;
};
