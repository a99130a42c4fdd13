import { COORDINATION_STORE, type CoordinationStore } from '@app/coordination';
import { Decisions } from '@app/kernel';
import { Models } from '@app/models';
import { Inject, Injectable } from '@nestjs/common';
import { CHUNKING_OF, type ChunkingOf, INDEXED_DOCUMENTS, type IndexedDocuments } from '../lookups';
import { estimateOf, levelOf, reindexId } from './reindex-plan';
import { readReindexProgress, type ReindexProgress } from './reindex-progress';
import { type Reindex, reindexDecider, type ReindexPlan } from './reindex.decider';
import type { ReindexEstimate } from './reindex.events';

/** Where documents are re-indexed. */
export type ReindexPlace = Pick<ReindexPlan, 'scope' | 'agentId' | 'spaceId'>;

/** A job as it is shown; `none`: there is none, and what one would take. */
export interface ReindexReport {
  readonly scope: ReindexPlace['scope'];
  readonly state: Reindex['status'];
  readonly code: string | null;
  readonly estimate: ReindexEstimate;
  readonly progress: Pick<ReindexProgress, 'done' | 'total'>;
}

/** Reports the state of re-index jobs and their estimated cost. */
@Injectable()
export class Reindexes {
  constructor(
    private readonly decisions: Decisions,
    private readonly models: Models,
    @Inject(COORDINATION_STORE) private readonly coordination: CoordinationStore,
    @Inject(CHUNKING_OF) private readonly chunkingOf: ChunkingOf,
    @Inject(INDEXED_DOCUMENTS) private readonly documents: IndexedDocuments,
  ) {}

  /** What a job would do now. */
  async plan(place: ReindexPlace): Promise<Omit<ReindexPlan, 'jobId'>> {
    const { model } = this.models.embedding();
    const chunking = place.scope === 'instance' ? undefined : await this.chunkingOf({ ...place, scope: place.scope });
    const wanted = { embeddingModel: model.key, chunking };
    const { scope, agentId, spaceId } = place;
    const estimated = await estimateOf(this.documents(levelOf(place)), wanted, model);
    return { scope, agentId, spaceId, embeddingModel: model.key, ...estimated };
  }

  async report(place: ReindexPlace): Promise<ReindexReport> {
    const id = reindexId(place);
    const { state: job } = await this.decisions.load(reindexDecider, id);
    const { scope } = place;
    if (job.status === 'none') {
      const { estimate, documents: total } = await this.plan(place);
      return { scope, state: 'none', code: null, estimate, progress: { done: 0, total } };
    }
    const { jobId, status: state, code, estimate, documents: total } = job;
    const isMade = state === 'ready' || state === 'swapped';
    const { done = 0, total: all = total } = (await readReindexProgress(this.coordination, id, jobId)) ?? {};
    return { scope, state, code, estimate, progress: isMade ? { done: total, total } : { done, total: all } };
  }

  /** Whether there is a job. */
  async exists(place: ReindexPlace): Promise<boolean> {
    return (await this.decisions.load(reindexDecider, reindexId(place))).state.status !== 'none';
  }
}
