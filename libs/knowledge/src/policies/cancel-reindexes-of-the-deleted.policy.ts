import { EVENT_LOG } from '@app/event-log';
import {
  type Clock,
  CLOCK,
  Decisions,
  idOf,
  isDeleted,
  reactionTo,
  type RecordedEvent,
  type StreamReader,
} from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { reindexDecider } from '../reindex/reindex.decider';

/**
 * Cancels the re-index of a deleted Agent or Space: nobody can end it any more, and a job of the instance waits for all
 * others. If a concurrent request starts or rolls back one after the deletion, its own event is handled.
 */
@PolicyHandler()
export class CancelReindexesOfTheDeleted implements Policy {
  readonly name = 'cancel-reindexes-of-the-deleted';
  readonly types = ['AgentDeleted', 'SpaceDeleted', 'ReindexStarted', 'ReindexRolledBack'];

  constructor(
    private readonly decisions: Decisions,
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const id = idOf(event.context.stream);
    const isOfDeletion = event.type === 'AgentDeleted' || event.type === 'SpaceDeleted';
    if (!isOfDeletion && !(await this.isOfTheDeleted(id))) return;
    const { state } = await this.decisions.load(reindexDecider, id);
    // One that is swapped has ended.
    if (state.status === 'none' || state.status === 'swapped') return;
    await this.decisions.transact(
      reindexDecider,
      id,
      { type: 'Cancel' },
      reactionTo(event, this.name, this.clock.now()),
    );
  }

  private async isOfTheDeleted(id: string): Promise<boolean> {
    const { state: job } = await this.decisions.load(reindexDecider, id);
    if (job.status === 'none') return false;
    const { agentId, spaceId } = job;
    return (
      (agentId !== null && (await isDeleted(this.log, `agent-${agentId}`, 'AgentDeleted'))) ||
      (spaceId !== null && (await isDeleted(this.log, `space-${spaceId}`, 'SpaceDeleted')))
    );
  }
}
