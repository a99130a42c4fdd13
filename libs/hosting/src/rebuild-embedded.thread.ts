import '@app/process/threads';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import { openFileBlobs } from '@app/blobs/threads';
import { openLogReader } from '@app/event-log/threads';
import { EventCodec, serveCalls, systemClock } from '@app/kernel';
import { rebuildWorker } from '@app/projecting/builds';
import { openSqliteReadStore } from '@app/read-store/builds';
import { openSqliteSearchIndex } from '@app/search-index/threads';
import { openSqliteVault } from '@app/vault/threads';
import { loneProjections, viewEvents } from './lone-projections';
import type { EmbeddedThreadData } from './spawn-rebuild-worker';

/** `rebuild.thread` over embedded stores. It loads projections and the events that they read, not the contexts and the framework, which are most of what a thread costs to start. */
const serveRebuilds = async ({ config, types, vaultKey: wrappingKey }: EmbeddedThreadData): Promise<void> => {
  const folderOf = (name: string): string => join(config.DATA_DIR, name);
  const log = await openLogReader(config, undefined);
  const vault = await openSqliteVault({ folder: folderOf('vault'), wrappingKey, clock: systemClock });
  const blobs = await openFileBlobs({ folder: folderOf('blobs'), vault });
  const readStore = await openSqliteReadStore({ folder: folderOf('views'), inThread: true });
  const searchIndex = await openSqliteSearchIndex({ folder: folderOf('search'), inThread: true });
  const close = async (): Promise<void> => {
    for (const store of [searchIndex, readStore, vault, log]) await store.close();
  };
  const codec = new EventCodec(viewEvents, vault);
  const projections = loneProjections(types);
  serveCalls(
    rebuildWorker({ log, blobs, readStore, searchIndex, codec, clock: systemClock, projections, onClose: close }),
  );
};

void serveRebuilds(workerData as EmbeddedThreadData);
