import { type Calls, callThread, startThread } from '@app/kernel';
import type { RebuildWorker } from '@app/projecting';

/** What the rebuild thread opens its stores with. */
export interface RebuildThreadData {
  readonly dataFolder: string;
  readonly vaultKey: string;
}

/** Starts a thread that rebuilds views of the embedded stores. */
export const spawnRebuildWorker = (data: RebuildThreadData): Calls<RebuildWorker> =>
  callThread<RebuildWorker>('rebuild', () => startThread(__dirname, 'rebuild.thread', __filename, { workerData: data }), []);
