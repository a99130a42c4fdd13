import { BLOBS, type Blobs } from '@app/blobs';
import { COORDINATION_STORE, type CoordinationStore } from '@app/coordination';
import { Decisions } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { hierarchyOf } from '../building/hierarchy';
import { ProgressBoard } from '../building/progress';
import { type SummarisedAgent, SUMMARIES_OF, type SummariesOf } from '../lookups';
import { Estimates } from './estimates';
import { type SummaryIndex, summaryIndexDecider } from './summary-index.decider';
import type { BuildEstimate } from './summary-index.events';

/** A section-summary index as it is shown. */
export interface ShownIndex {
  readonly state: 'absent' | 'building' | 'ready' | 'failed';
  /** Of the running build; else what a build would take at most now. */
  readonly estimate: BuildEstimate;
  /** Summaries that the running build has, of how many at most; else those of the index. */
  readonly progress: { readonly done: number; readonly total: number };
  readonly levels: number;
  /** Summaries that are there: fewer than were built where documents were deleted since. */
  readonly summaries: number;
  /** ISO 8601 UTC. */
  readonly builtAt: string | null;
  /** Why the last build failed. */
  readonly failure: string | null;
}

/** Shows section-summary indexes. */
@Injectable()
export class ShownIndexes {
  private readonly board: ProgressBoard;

  constructor(
    private readonly decisions: Decisions,
    private readonly estimates: Estimates,
    @Inject(BLOBS) private readonly blobs: Blobs,
    @Inject(SUMMARIES_OF) private readonly made: SummariesOf,
    @Inject(COORDINATION_STORE) coordination: CoordinationStore,
  ) {
    this.board = new ProgressBoard(coordination);
  }

  /** `model`: key of the Agent's chat model. Rejects `model_not_available`. */
  async of({ model, ...agent }: SummarisedAgent & { readonly model: string }): Promise<ShownIndex> {
    const { state: index } = await this.decisions.recall(summaryIndexDecider, agent.agentId);
    const live = index.status === 'present' ? index.live : null;
    const running = index.status === 'present' ? index.running : null;
    const summaries = index.status === 'present' && live !== null ? await this.present(index) : 0;
    const progress = running === null ? undefined : await this.board.read(agent.agentId, running.build);
    return {
      state: stateOf(index),
      estimate: running?.estimate ?? (await this.estimates.of(agent, index, 'build', model)),
      progress:
        running === null
          ? { done: live?.summaries ?? 0, total: live?.summaries ?? 0 }
          : { done: progress?.done ?? 0, total: progress?.total ?? running.estimate.calls },
      levels: live?.levels ?? 0,
      summaries,
      builtAt: live?.builtAt ?? null,
      failure: index.status === 'present' ? index.failure : null,
    };
  }

  private async present(index: Extract<SummaryIndex, { status: 'present' }>): Promise<number> {
    const { nodes } = await hierarchyOf(this.blobs, index);
    return this.made.present(nodes.map(({ id }) => id));
  }
}

const stateOf = (index: SummaryIndex): ShownIndex['state'] => {
  if (index.status !== 'present') return 'absent';
  if (index.running !== null) return 'building';
  if (index.failure !== null) return 'failed';
  return index.live === null ? 'absent' : 'ready';
};
