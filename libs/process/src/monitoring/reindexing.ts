import type { CoordinationStore } from '@app/coordination';
import type { Models } from '@app/models';
import type { ReadStore } from '@app/read-store';
import { modelsSearched } from '@projections/documents';
import { OPEN_STATES, type OpenReindex, openReindexes, reindexes } from '@projections/reindexes';

/** Most jobs that are named. */
const MOST_NAMED = 20;

/** What there is to know of re-indexing. */
export interface Reindexing {
  /** Whether documents have vectors of another model than the configured one. */
  readonly due: boolean;
  /** Jobs that are not ended, by their state. */
  readonly jobs: Readonly<Record<(typeof OPEN_STATES)[number], number>>;
}

/** The same, with some of the jobs, those that run first. */
export interface NamedReindexing extends Reindexing {
  readonly open: readonly OpenReindex[];
}

/** Asks the views; throws `Unavailable` where they are away. */
export const reindexingOf = async (
  store: Pick<ReadStore, 'find' | 'count'>,
  models: Pick<Models, 'embedding'>,
): Promise<Reindexing> => {
  const configured = models.embedding().model.key;
  const [searched, counted] = await Promise.all([
    modelsSearched(store),
    Promise.all(OPEN_STATES.map(async (state) => [state, await store.count(reindexes.name, { state })] as const)),
  ]);
  return {
    due: searched.some((model) => model !== configured),
    jobs: Object.fromEntries(counted) as Reindexing['jobs'],
  };
};

export const namedReindexingOf = async (
  store: Pick<ReadStore, 'find' | 'count'>,
  coordination: Pick<CoordinationStore, 'read'>,
  models: Pick<Models, 'embedding'>,
): Promise<NamedReindexing> => {
  const [reindexing, open] = await Promise.all([
    reindexingOf(store, models),
    openReindexes(store, coordination, MOST_NAMED),
  ]);
  return { ...reindexing, open };
};

/** Whether somebody should hear of it. */
export const isToldOf = ({ due, jobs }: Reindexing): boolean => due || Object.values(jobs).some((count) => count > 0);
