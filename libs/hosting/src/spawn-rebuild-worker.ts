import { type Calls, callThread, type Config, startThread } from '@app/kernel';
import type { CatchUpWorker, RebuildThreads, RebuildWorker } from '@app/projecting';

/** How long a thread waits for the next rebuild before it ends: views are often rebuilt one after the other. */
const LINGER_MS = 2_000;

/** Room for what lives briefly: events, and the rows of one commit. */
const YOUNG_MB = 64;

/** What the rebuild thread opens its stores with. */
export interface RebuildThreadData {
  readonly config: Config;
  readonly vaultKey: string;
}

/** What the thread beside it is told, over embedded stores. */
export interface ContextThreadData {
  readonly config: Pick<Config, 'EVENTSTORE_URL' | 'DATA_DIR'>;
  /** Every type of event that this program knows. */
  readonly types: readonly string[];
}

/** Hands out one thread of each kind; it ends some time after the last one who had it closed it. Over stores on servers both are of one kind, with all that opens them. */
export const rebuildWorkers = (data: RebuildThreadData, types: readonly string[]): RebuildThreads => {
  const { EVENTSTORE_URL, MONGODB_URL, DATA_DIR } = data.config;
  const isEmbedded = EVENTSTORE_URL === undefined && MONGODB_URL === undefined;
  const ofContext: ContextThreadData = { config: { EVENTSTORE_URL, DATA_DIR }, types };
  return {
    rebuild: shared<RebuildWorker>('rebuild', 'rebuild.thread', data),
    context: isEmbedded
      ? shared<CatchUpWorker>('context', 'context.thread', ofContext)
      : shared<RebuildWorker>('context', 'rebuild.thread', data),
  };
};

const shared = <W extends { close(): void }>(
  name: string,
  module: string,
  workerData: RebuildThreadData | ContextThreadData,
): (() => Calls<W>) => {
  const thread = callThread<W>(
    name,
    () =>
      startThread(__dirname, module, __filename, {
        workerData,
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
