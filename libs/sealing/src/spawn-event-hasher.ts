import { type Calls, callThread, type Config, startThread } from '@app/kernel';
import type { EventHasher } from './event-hasher';

/**
 * Injection token of the function that starts the thread of an `EventHasher`; undefined if the sealer hashes by itself.
 */
export const EVENT_HASHERS = Symbol('EventHashers');

/** What the thread reads the log and checks MACs with. */
export interface HashingThreadData {
  readonly config: Pick<Config, 'EVENTSTORE_URL' | 'DATA_DIR'>;
  readonly sealSecret: string;
}

/**
 * Starts a thread for each caller; it ends when it is closed. A log on a server is read over one connection, shared
 * with its followers: there is no thread for it.
 */
export const eventHashers = (data: HashingThreadData): (() => Calls<EventHasher>) | undefined =>
  data.config.EVENTSTORE_URL === undefined
    ? () =>
        callThread<EventHasher>(
          'sealing',
          () => startThread(__dirname, 'hashing.thread', __filename, { workerData: data }),
          [],
        )
    : undefined;
