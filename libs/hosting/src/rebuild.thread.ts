import '@app/kernel/compile-cache';
import { workerData } from 'node:worker_threads';
import { serveCalls, systemClock } from '@app/kernel';
import { rebuildWorker } from '@app/projecting';
import { openRebuildStores } from './open-stores';
import { projections } from './projections';
import type { RebuildThreadData } from './spawn-rebuild-worker';

/** Rebuilds in a thread of their own, over connections of their own, so that the process that serves never waits for them. */
const serveRebuilds = async ({ config, vaultKey }: RebuildThreadData): Promise<void> => {
  const stores = await openRebuildStores(config, vaultKey, systemClock);
  serveCalls(rebuildWorker({ ...stores, clock: systemClock, projections, onClose: stores.close }));
};

void serveRebuilds(workerData as RebuildThreadData);
