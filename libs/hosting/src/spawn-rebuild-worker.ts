import { type Calls, callThread, type Config, startThread } from '@app/kernel';
import type { RebuildThread, RebuildWorker } from '@app/projecting';

/** How long the thread waits for the next rebuild before it ends: views are often rebuilt one after the other. */
const LINGER_MS = 2_000;

/** Room for what lives briefly: events, and the rows of one commit. */
const YOUNG_MB = 64;

/** What the rebuild thread opens its stores with. */
export interface RebuildThreadData {
  readonly config: Config;
  readonly vaultKey: string;
}

/** Hands out one thread of each kind; it ends some time after the last one who had it closed it. */
export const rebuildWorkers = (data: RebuildThreadData): ((kind: RebuildThread) => Calls<RebuildWorker>) => {
  const threads = new Map<RebuildThread, () => Calls<RebuildWorker>>();
  return (kind) => {
    const known = threads.get(kind) ?? rebuildThread(kind, data);
    threads.set(kind, known);
    return known();
  };
};

const rebuildThread = (kind: RebuildThread, data: RebuildThreadData): (() => Calls<RebuildWorker>) => {
  const thread = callThread<RebuildWorker>(
    kind,
    () =>
      startThread(__dirname, 'rebuild.thread', __filename, {
        workerData: data,
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
      }),
    [],
  );
  let users = 0;
  let ending: NodeJS.Timeout | undefined;
  const close = async (): Promise<void> => {
    users -= 1;
    if (users === 0) ending = setTimeout(() => void thread.close(), LINGER_MS).unref();
  };
  return () => {
    clearTimeout(ending);
    users += 1;
    return { call: thread.call, close };
  };
};
