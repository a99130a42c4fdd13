import { type Decider, never, type RecordedEvent, reject } from '@app/kernel';
import { Set as PersistentSet } from 'immutable';
import { type Requester, requesterOf } from '../document/requester';
import type { ReindexEstimate, ReindexEvent, ReindexScope } from './reindex.events';

/** What is re-indexed, and for whom. */
export interface ReindexPlan {
  readonly jobId: string;
  readonly scope: ReindexScope;
  readonly spaceId: string | null;
  readonly agentId: string | null;
  readonly embeddingModel: string;
  readonly documents: number;
  readonly estimate: ReindexEstimate;
}

/** A re-index as it was planned, who pays for it, and how it failed if it did. */
export interface ReindexJob extends ReindexPlan {
  /** Whose limits its calls count against. */
  readonly askedBy: Requester;
  /** Why it failed. */
  readonly code: string | null;
}

/** Where a re-index stands; `ready` waits for its swap. */
export type ReindexStatus = 'running' | 'paused' | 'ready' | 'swapped' | 'failed';
/** `swappedJobs`: ids of all jobs of the place that were swapped, and not rolled back. */
export type Reindex = ({ readonly status: 'none' } | ({ readonly status: ReindexStatus } & ReindexJob)) & {
  readonly swappedJobs: PersistentSet<string>;
};

/** What can be asked of the re-indexes of a place. */
export type ReindexCommand =
  | ({ readonly type: 'Start' } & ReindexPlan)
  | { readonly type: ReindexAction }
  | { readonly type: 'MarkReady'; readonly jobId: string; readonly documents: number }
  | { readonly type: 'Fail'; readonly jobId: string; readonly code: string };

/** What may be asked of a job. */
export type ReindexAction = 'Pause' | 'Resume' | 'Cancel' | 'Swap' | 'RollBack';

/** The stream of an Agent's or a Space's jobs is named by its id, that of the instance by this. */
export const INSTANCE = 'instance';

interface Rule {
  readonly from: readonly ReindexStatus[];
  /** Where it has been done already. */
  readonly done: readonly Reindex['status'][];
  readonly event: Exclude<ReindexEvent['type'], 'ReindexStarted' | 'ReindexReady' | 'ReindexFailed'>;
}

const rules: Readonly<Record<ReindexAction, Rule>> = {
  Pause: { from: ['running'], done: ['paused'], event: 'ReindexPaused' },
  Resume: { from: ['paused', 'failed'], done: ['running'], event: 'ReindexResumed' },
  Cancel: { from: ['running', 'paused', 'ready', 'failed'], done: ['none'], event: 'ReindexCancelled' },
  Swap: { from: ['ready'], done: ['swapped'], event: 'ReindexSwapped' },
  RollBack: { from: ['swapped'], done: [], event: 'ReindexRolledBack' },
};

/**
 * The jobs of an Agent, a Space or the instance, one at a time: running -> ready -> swapped, and back to ready by a rollback.
 * Throws `conflict` with the reasons `reindex_exists`, `no_reindex` and `reindex_not_ready`.
 */
export const reindexDecider: Decider<Reindex, ReindexCommand, ReindexEvent> = {
  category: 'reindex',
  initial: { status: 'none', swappedJobs: PersistentSet() },
  decide: (command, job) => {
    switch (command.type) {
      case 'Start':
        return start(command, job);
      case 'MarkReady':
        return isRunning(command.jobId, job)
          ? [{ type: 'ReindexReady', data: { jobId: command.jobId, documents: command.documents } }]
          : [];
      case 'Fail':
        return isRunning(command.jobId, job)
          ? [{ type: 'ReindexFailed', data: { jobId: command.jobId, code: command.code } }]
          : [];
      default:
        return act(command.type, job);
    }
  },
  evolve: (job, event) => {
    const { swappedJobs } = job;
    if (event.type === 'ReindexStarted')
      return {
        status: 'running',
        ...event.data,
        askedBy: requesterOf(event as RecordedEvent),
        code: null,
        swappedJobs,
      };
    if (job.status === 'none') return job;
    switch (event.type) {
      case 'ReindexPaused':
        return { ...job, status: 'paused' };
      case 'ReindexResumed':
        return { ...job, status: 'running', code: null };
      case 'ReindexCancelled':
        return { status: 'none', swappedJobs };
      case 'ReindexReady':
        return { ...job, status: 'ready', documents: event.data.documents };
      case 'ReindexRolledBack':
        return { ...job, status: 'ready', swappedJobs: swappedJobs.delete(job.jobId) };
      case 'ReindexSwapped':
        return { ...job, status: 'swapped', swappedJobs: swappedJobs.add(job.jobId) };
      case 'ReindexFailed':
        return { ...job, status: 'failed', code: event.data.code };
      default:
        return never(event);
    }
  },
};

const start = (
  { type: _type, ...plan }: ReindexPlan & { readonly type: 'Start' },
  job: Reindex,
): readonly ReindexEvent[] => {
  if (job.status !== 'none' && job.jobId === plan.jobId) return [];
  return job.status === 'none' || job.status === 'swapped'
    ? [{ type: 'ReindexStarted', data: plan }]
    : reject('conflict', { reason: 'reindex_exists' });
};

const act = (action: ReindexAction, job: Reindex): readonly ReindexEvent[] => {
  const { from, done, event } = rules[action];
  if (done.includes(job.status)) return [];
  if (job.status === 'none') return reject('conflict', { reason: 'no_reindex' });
  return from.includes(job.status)
    ? [{ type: event, data: { jobId: job.jobId } }]
    : reject('conflict', { reason: 'reindex_not_ready' });
};

const isRunning = (jobId: string, job: Reindex): boolean => job.status === 'running' && job.jobId === jobId;
