import { EVENT_LOG } from '@app/event-log';
import {
  type Clock,
  CLOCK,
  Decisions,
  idOf,
  isDeleted,
  reactionTo,
  type RecordedEvent,
  stepOf,
  type StreamReader,
} from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { tagRegistryDecider } from '../tags/tag-registry.decider';

/**
 * Views drop the tags of a Space with it. If a running request creates a tag after the deletion, its own event is
 * handled.
 */
@PolicyHandler()
export class DeleteTagsOfDeletedSpaces implements Policy {
  readonly name = 'delete-tags-of-deleted-spaces';
  readonly types = ['TagCreated'];

  constructor(
    private readonly decisions: Decisions,
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const spaceId = idOf(event.context.stream);
    if (!(await isDeleted(this.log, `space-${spaceId}`, 'SpaceDeleted'))) return;
    const tagId = String(event.data['tagId']);
    const meta = stepOf(reactionTo(event, this.name, this.clock.now()), tagId);
    await this.decisions.transact(tagRegistryDecider, spaceId, { type: 'Delete', tagId, withSpace: true }, meta);
  }
}
