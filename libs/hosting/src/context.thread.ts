import '@app/kernel/compile-cache';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import { openLogReader } from '@app/event-log/threads';
import { serveCalls, systemClock } from '@app/kernel';
import { contextWorker } from '@app/projecting/threads';
import { openSqliteReadStore } from '@app/read-store/builds';
import { contextProjections } from './context-projections';
import type { ContextThreadData } from './spawn-rebuild-worker';

/** Catches up views of context alone in a thread of their own, beside the one that rebuilds. Of all that this loads it takes a tenth, so that it starts as much faster. */
const serveContext = async ({ config, types }: ContextThreadData): Promise<void> => {
  const log = await openLogReader(config, undefined);
  const readStore = await openSqliteReadStore({ folder: join(config.DATA_DIR, 'views'), inThread: true });
  const close = async (): Promise<void> => {
    await readStore.close();
    await log.close();
  };
  serveCalls(
    contextWorker({ log, readStore, clock: systemClock, projections: contextProjections(types), onClose: close }),
  );
};

void serveContext(workerData as ContextThreadData);
