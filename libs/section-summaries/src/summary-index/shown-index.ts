import { BLOBS, type Blobs } from '@app/blobs';
import { Decisions, type Position } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { hierarchyOf } from '../building/hierarchy';
import { ProgressBoard } from '../building/progress';
import { type SummarisedAgent, SUMMARIES_OF, type SummariesOf } from '../lookups';
import { sectionSummaryDecider } from '../section-summary/section-summary.decider';
import { Estimates } from './estimates';
import { type PresentIndex, type RunningBuild, summaryIndexDecider } from './summary-index.decider';
import type { BuildEstimate } from './summary-index.events';

/** Streams of summaries that are read at once. */
const READ_AT_ONCE = 50;

/** A section-summary index as it is shown. */
export interface ShownIndex {
  readonly state: 'absent' | 'building' | 'ready' | 'failed';
  /** Of the running build; else about what a build would take now. */
  readonly estimate: BuildEstimate;
  /** Summaries that the running build has, of about how many; else those of the index. */
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
  constructor(
    private readonly decisions: Decisions,
    private readonly estimates: Estimates,
    @Inject(BLOBS) private readonly blobs: Blobs,
    @Inject(SUMMARIES_OF) private readonly made: SummariesOf,
    private readonly board: ProgressBoard,
  ) {}

  /** `model`: key of the Agent's chat model. Rejects `model_not_available`. */
  async of({ model, ...agent }: SummarisedAgent & { readonly model: string }): Promise<ShownIndex> {
    const { state, position } = await this.decisions.recall(summaryIndexDecider, agent.agentId);
    const index = state.status === 'present' ? state : null;
    const { live = null, running = null, failure = null } = index ?? {};
    const summaries = index === null || live === null || position === null ? 0 : await this.present(index, position);
    return {
      state: running !== null ? 'building' : failure !== null ? 'failed' : live === null ? 'absent' : 'ready',
      estimate: running?.estimate ?? (await this.estimates.of(agent, state, 'build', model)),
      progress:
        running === null ? { done: summaries, total: summaries } : await this.progressOf(agent.agentId, running),
      levels: live?.levels ?? 0,
      summaries,
      builtAt: live?.builtAt ?? null,
      failure,
    };
  }

  private async progressOf(agentId: string, { build, estimate }: RunningBuild): Promise<ShownIndex['progress']> {
    const { done, total } = (await this.board.read(agentId, build)) ?? { done: 0, total: estimate.calls };
    return { done, total };
  }

  /** Of those that a late view does not show yet the streams are asked: it is late for as long as a dead projector holds its part. */
  private async present(index: PresentIndex, position: Position): Promise<number> {
    const summaryIds = (await hierarchyOf(this.blobs, index)).nodes.map(({ id }) => id);
    const { ids, isComplete } = await this.made.present(summaryIds, position);
    const unknown = isComplete ? [] : summaryIds.filter((id) => !ids.has(id));
    let count = ids.size;
    for (let from = 0; from < unknown.length; from += READ_AT_ONCE) {
      const read = unknown
        .slice(from, from + READ_AT_ONCE)
        .map(async (id) => this.decisions.recall(sectionSummaryDecider, id));
      count += (await Promise.all(read)).filter(({ state }) => state.status === 'present').length;
    }
    return count;
  }
}
