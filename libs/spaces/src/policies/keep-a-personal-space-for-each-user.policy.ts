import { type Clock, type Decisions, idOf, reactionTo, type RecordedEvent, type StreamReader } from '@app/kernel';
import type { Policy } from '@app/projecting';
import {
  CreatePersonalSpace,
  type CreatePersonalSpaceHandler,
  personalSpaceOf,
} from '../space/commands/create-personal-space';
import { spaceDecider } from '../space/space.decider';
import type { SpaceEvent } from '../space/space.events';
import { isDeleted } from './is-deleted';

const NAME = 'keep-a-personal-space-for-each-user';

export interface PersonalSpaceParts {
  readonly decisions: Decisions;
  readonly log: StreamReader;
  readonly clock: Clock;
  readonly createPersonalSpace: Pick<CreatePersonalSpaceHandler, 'execute'>;
}

/**
 * Every user has a personal Space as long as they exist. One made while its user is being deleted is handled by its own
 * event.
 */
export const keepPersonalSpaces = ({ decisions, log, clock, createPersonalSpace }: PersonalSpaceParts): Policy => ({
  name: NAME,
  types: ['UserCreated', 'UserDeleted', 'SpaceCreated'],
  react: async (event) => {
    const id = idOf(event.context.stream);
    const meta = reactionTo(event, NAME, clock.now());
    const remove = async (spaceId: string): Promise<void> =>
      void (await decisions.transact(spaceDecider, spaceId, { type: 'Delete', withUser: true }, meta));
    if (event.type === 'UserCreated') await createPersonalSpace.execute(new CreatePersonalSpace(id, meta));
    else if (event.type === 'UserDeleted') await remove(personalSpaceOf(id));
    else if (isPersonal(event) && (await isDeleted(log, `user-${event.data.ownerId}`, 'UserDeleted'))) await remove(id);
  },
});

type SpaceCreated = RecordedEvent<Extract<SpaceEvent, { readonly type: 'SpaceCreated' }>>;

const isPersonal = (event: RecordedEvent): event is SpaceCreated =>
  event.type === 'SpaceCreated' && (event as SpaceCreated).data.kind === 'personal';
