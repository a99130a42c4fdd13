import { type Calls, callThread, type Config, startThread } from '@app/kernel';
import type { EventHasher } from './event-hasher';

/** Injection token of what starts the thread of an `EventHasher`; undefined where the sealer hashes by itself. */
export const EVENT_HASHERS = Symbol('EventHashers');

/** What the thread reads the log and checks MACs with. */
export interface HashingThreadData {
  readonly config: Pick<Config, 'EVENTSTORE_URL' | 'DATA_DIR'>;
  readonly sealSecret: string;
}

/** Starts a thread for each who asks; it ends when it is closed. A log on a server is read over one connection, with whoever follows it: there is none for it. */
export const eventHashers = (data: HashingThreadData): (() => Calls<EventHasher>) | undefined =>
  data.config.EVENTSTORE_URL === undefined
    ? () =>
        callThread<EventHasher>(
          'sealing',
          () => startThread(__dirname, 'hashing.thread', __filename, { workerData: data }),
          [],
        )
    : undefined;
