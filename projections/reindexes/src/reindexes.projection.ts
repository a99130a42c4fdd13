import { idOf, type RecordedEvent } from '@app/kernel';
import { reindexScope, type ReindexEvent } from '@app/knowledge';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';

/** The last re-index job of an Agent, a Space or the instance. */
export const reindexRow = z.object({
  id: z.string(),
  jobId: z.string(),
  scope: reindexScope,
  state: z.enum(['running', 'paused', 'ready', 'swapped', 'failed', 'cancelled']),
  startedAt: z.string(),
});
export type ReindexRow = z.output<typeof reindexRow>;

const states = {
  ReindexPaused: 'paused',
  ReindexResumed: 'running',
  ReindexCancelled: 'cancelled',
  ReindexReady: 'ready',
  ReindexFailed: 'failed',
  ReindexSwapped: 'swapped',
  ReindexRolledBack: 'ready',
} as const;

/** The states of jobs that somebody, or a worker, has yet to end. */
export const OPEN_STATES = ['running', 'paused', 'ready', 'failed'] as const satisfies readonly ReindexRow['state'][];

/** Re-index jobs: a worker finds here those that run, also after a crash. */
export const reindexes: RowProjection = {
  kind: 'rows',
  name: 'reindexes',
  version: 1,
  perStream: true,
  types: ['ReindexStarted', ...Object.keys(states)],
  row: reindexRow,
  indexes: [{ name: 'oldest-of-state', fields: [{ field: 'state' }, { field: 'startedAt', order: 'asc' }] }],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<ReindexEvent>;
    const key = idOf(event.context.stream);
    if (event.type !== 'ReindexStarted') return [{ op: 'patch', key, fields: { state: states[event.type] } }];
    const { jobId, scope } = event.data;
    return [{ op: 'put', key, row: { id: key, jobId, scope, state: 'running', startedAt: event.context.recordedAt } }];
  },
};
