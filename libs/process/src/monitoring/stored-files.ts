import type { Blobs } from '@app/blobs';
import type { LogReader } from '@app/event-log';
import { isUnavailable } from '@app/kernel';
import type { Projecting } from '@app/projecting';
import type { ReadStore } from '@app/read-store';
import { NAMED_BLOBS } from '@projections/named-blobs';
import { type DependencyHealth, inTime } from './health';

/** Time limit for reading files, so that a folder or bucket that does not answer is reported within 2 s. */
const LOOK_MS = 1_500;
/** How long to wait for the view of named files. */
const VIEW_MS = 500;

export interface StoredFilesParts {
  readonly blobs: Pick<Blobs, 'health' | 'list' | 'storedAt'>;
  readonly log: Pick<LogReader, 'head'>;
  readonly readStore: Pick<ReadStore, 'find' | 'get'>;
  readonly projecting: Pick<Projecting, 'gap'>;
}

/**
 * How the place of the files is doing. An empty folder or bucket in the place of the one that was used is well by
 * itself, so one file that the log names is looked for, and others only where that one is missing.
 */
export const blobsHealth = async (parts: StoredFilesParts): Promise<DependencyHealth> => {
  const health = await parts.blobs.health();
  if (!health.ok) return health;
  const lost = await inTime(LOOK_MS, areLost(parts), false, (error) => {
    // What it takes to know is away: which one, the others say.
    if (isUnavailable(error)) return false;
    throw error;
  });
  return lost ? { ok: false, reason: 'the log names files, but none is stored' } : health;
};

/** Whether a file is named before and after it was missing, and no other stands there: one that is uploaded or removed meanwhile is not. */
const areLost = async ({ blobs, log, readStore, projecting }: StoredFilesParts): Promise<boolean> => {
  const [named] = await readStore.find(NAMED_BLOBS, { limit: 1 });
  if (named === undefined || (await blobs.storedAt(named.key)) !== undefined) return false;
  if ((await blobs.list(null, 1)).length > 0) return false;
  const head = await log.head();
  if (head === null || (await projecting.gap(NAMED_BLOBS, head, VIEW_MS)) !== undefined) return false;
  return (await readStore.get(NAMED_BLOBS, named.key)) !== undefined;
};
