import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import { openFileBlobs } from '@app/blobs';
import { openSqliteLogReader } from '@app/event-log';
import { EventCodec, serveCalls, systemClock } from '@app/kernel';
import { rebuildWorker } from '@app/projecting';
import { openSqliteReadStore } from '@app/read-store';
import { openSqliteSearchIndex } from '@app/search-index';
import { openSqliteVault } from '@app/vault';
import { eventCatalogue } from './catalogue';
import { projections } from './projections';
import type { RebuildThreadData } from './spawn-rebuild-worker';

/** Rebuilds in a thread of their own, over connections of their own, so that the process that serves never waits for them. */
const serveRebuilds = async ({ dataFolder, vaultKey }: RebuildThreadData): Promise<void> => {
  const folder = (name: string): string => join(dataFolder, name);
  const log = await openSqliteLogReader({ folder: folder('log') });
  const vault = await openSqliteVault({ folder: folder('vault'), wrappingKey: vaultKey, clock: systemClock });
  const blobs = await openFileBlobs({ folder: folder('blobs'), vault });
  const readStore = await openSqliteReadStore({ folder: folder('views'), inThread: true });
  const searchIndex = await openSqliteSearchIndex({ folder: folder('search'), inThread: true });
  const onClose = async (): Promise<void> => {
    for (const store of [searchIndex, readStore, vault, log]) await store.close();
  };
  serveCalls(rebuildWorker({ log, readStore, searchIndex, blobs, codec: new EventCodec(eventCatalogue, vault), clock: systemClock, projections, onClose }));
};

void serveRebuilds(workerData as RebuildThreadData);
