import { callHere, callThread, startThread, Unavailable } from '@app/kernel/threads';
import { CheckpointMismatch, Fenced, loadDriver } from '@app/read-store/threads';
import type { SearchIndex } from '../search-index';
import { SearchFiles } from './search-files';

export interface SqliteSearchIndexOptions {
  /** Folder of the index files: `<index>-v<n>.sqlite` and `state.sqlite`; made if missing. */
  readonly folder: string;
  /** Works in this thread instead of one of its own: for threads that do nothing else, such as a rebuild's. */
  readonly inThread?: boolean;
  /** Told what was lost and how it goes on, one sentence. */
  readonly warn?: (sentence: string) => void;
}

const BEGUN_ANEW =
  'search/state.sqlite was damaged or unreadable. It is set aside and replaced. No data is lost, and search stays available.';

/**
 * Search on SQLite: FTS5 and sqlite-vec, one file per index version. Everything, queries too, happens in a worker thread.
 * A damaged `state.sqlite` is set aside and begun anew; other damaged files are named by `health` and by whoever asks them.
 */
export const openSqliteSearchIndex = async ({
  folder,
  inThread = false,
  warn = () => undefined,
}: SqliteSearchIndexOptions): Promise<SearchIndex> => {
  loadDriver();
  const files = inThread
    ? callHere(new SearchFiles(folder))
    : callThread<SearchFiles>(
        'search',
        () => startThread(__dirname, 'search.thread', __filename, { workerData: { folder } }),
        [CheckpointMismatch, Fenced, Unavailable, RangeError, TypeError],
      );
  try {
    if (inThread) await files.call('join');
    else if (await files.call('open')) warn(BEGUN_ANEW);
  } catch (error) {
    await files.close();
    throw error;
  }
  return {
    prepare: (index, version) => files.call('prepare', index, version),
    live: (index) => files.call('live', index),
    versions: (index) => files.call('versions', index),
    swap: (index, from, to) => files.call('swap', index, from, to),
    drop: (index, version) => files.call('drop', index, version),
    checkpoint: (index, version, slice) => files.call('checkpoint', index, version, slice),
    apply: (batch) => files.call('apply', batch),
    damaged: () => files.call('damaged'),
    setAside: (index, version) => files.call('setAside', index, version),
    search: (index, query) => files.call('search', index, query),
    scopesWith: (index, query) => files.call('scopesWith', index, query),
    prefetch: (index, query) => files.call('prefetch', index, query),
    revisionOf: (index, documentId) => files.call('revisionOf', index, documentId),
    count: (index, version) => files.call('count', index, version),
    scan: (index, version, afterId, limit) => files.call('scan', index, version, afterId, limit),
    purge: () => files.call('purge'),
    health: async () => {
      const problems = await files.call('problems');
      return problems.length === 0 ? { ok: true } : { ok: false, reason: problems.join('; ') };
    },
    close: () => files.close(),
  };
};
