import { EVENT_LOG } from '@app/event-log';
import {
  type Clock,
  CLOCK,
  type CommandMeta,
  Decisions,
  idOf,
  isDeleted,
  reactionTo,
  type RecordedEvent,
  type StreamReader,
} from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import {
  CreatePersonalSpace,
  CreatePersonalSpaceHandler,
  personalSpaceOf,
} from '../space/commands/create-personal-space';
import { spaceDecider } from '../space/space.decider';
import type { SpaceEvent } from '../space/space.events';

/**
 * Every user has a personal Space as long as they exist. One made while its user is being deleted is handled by its own
 * event.
 */
@PolicyHandler()
export class KeepAPersonalSpaceForEachUser implements Policy {
  readonly name = 'keep-a-personal-space-for-each-user';
  readonly types = ['UserCreated', 'UserDeleted', 'SpaceCreated'];

  constructor(
    private readonly decisions: Decisions,
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly createPersonalSpace: CreatePersonalSpaceHandler,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const id = idOf(event.context.stream);
    const meta = reactionTo(event, this.name, this.clock.now());
    if (event.type === 'UserCreated') await this.createPersonalSpace.execute(new CreatePersonalSpace(id, meta));
    else if (event.type === 'UserDeleted') await this.remove(personalSpaceOf(id), meta);
    else if (isPersonal(event) && (await isDeleted(this.log, `user-${event.data.ownerId}`, 'UserDeleted')))
      await this.remove(id, meta);
  }

  private async remove(spaceId: string, meta: CommandMeta): Promise<void> {
    await this.decisions.transact(spaceDecider, spaceId, { type: 'Delete', withUser: true }, meta);
  }
}

type SpaceCreated = RecordedEvent<Extract<SpaceEvent, { readonly type: 'SpaceCreated' }>>;

const isPersonal = (event: RecordedEvent): event is SpaceCreated =>
  event.type === 'SpaceCreated' && (event as SpaceCreated).data.kind === 'personal';
