import type { CoordinationStore } from '@app/coordination';
import { unlessLeft } from '@app/kernel';
import { z } from 'zod';

/** The progress of a running job: this many documents of all that need it. */
const reindexProgress = z.object({ jobId: z.string(), done: z.number().int(), total: z.number().int() });
export type ReindexProgress = z.output<typeof reindexProgress>;

const PREFIX = 'reindex-progress/';

/** Where the store is away it is left out: the job goes on. */
export const showReindexProgress = async (
  store: Pick<CoordinationStore, 'write'>,
  id: string,
  progress: ReindexProgress,
): Promise<void> => void (await unlessLeft(() => store.write(PREFIX + id, progress)));

/** Undefined where the job has not begun. */
export const readReindexProgress = async (
  store: Pick<CoordinationStore, 'read'>,
  id: string,
  jobId: string,
): Promise<ReindexProgress | undefined> => {
  const state = await store.read(PREFIX + id);
  const progress = state === undefined ? undefined : reindexProgress.parse(state);
  return progress?.jobId === jobId ? progress : undefined;
};
