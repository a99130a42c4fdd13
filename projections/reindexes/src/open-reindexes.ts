import { readReindexProgress } from '@app/knowledge';
import type { ReadStore } from '@app/read-store';
import { OPEN_STATES, type ReindexRow, reindexes, reindexRow } from './reindexes.projection';

/** A job that somebody, or a worker, has yet to end. */
export interface OpenReindex {
  readonly scope: ReindexRow['scope'];
  /** Of the Agent or the Space; null for the instance. */
  readonly id: string | null;
  readonly state: (typeof OPEN_STATES)[number];
  readonly startedAt: string;
  /** Documents; null where it has not begun. */
  readonly progress: { readonly done: number; readonly total: number } | null;
}

/** The jobs that are not ended, of each state those that were started first. */
export const openReindexes = async (
  store: Pick<ReadStore, 'find'>,
  coordination: Parameters<typeof readReindexProgress>[0],
  most: number,
): Promise<readonly OpenReindex[]> => {
  const orderBy = [{ field: 'startedAt', order: 'asc' as const }];
  const ofState = async (state: (typeof OPEN_STATES)[number]): Promise<readonly OpenReindex[]> => {
    const found = await store.find(reindexes.name, { where: { state }, orderBy, limit: most });
    return Promise.all(
      found.map(async ({ row }) => {
        const { id, jobId, scope, startedAt } = reindexRow.parse(row);
        const { done, total } = (await readReindexProgress(coordination, id, jobId)) ?? {};
        const progress = done === undefined || total === undefined ? null : { done, total };
        return {
          scope,
          id: scope === 'instance' ? null : id,
          state,
          startedAt,
          progress: state === 'ready' && progress !== null ? { done: progress.total, total: progress.total } : progress,
        };
      }),
    );
  };
  return (await Promise.all(OPEN_STATES.map(ofState))).flat().slice(0, most);
};
