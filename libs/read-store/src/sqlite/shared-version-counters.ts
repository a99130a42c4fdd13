import { isSharedArrayBuffer } from 'node:util/types';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const SLOTS = 4096;
const POINTERS = 0;
const FILES = 1;

/**
 * Counters in memory that all threads of the process share: a writer raises the counter of what it has committed, so that
 * readers in other threads know what they have cached without asking the database. Threads find those of a folder in
 * their environment data, which they inherit. One process owns a data folder, so memory is enough.
 */
export class SharedVersionCounters {
  private readonly counters: Int32Array;

  constructor(folder: string) {
    const name = `read-store:${folder}`;
    // Threads are handed shared memory as it is.
    const known: unknown = getEnvironmentData(name);
    const shared = isSharedArrayBuffer(known) ? known : new SharedArrayBuffer(SLOTS * 4);
    setEnvironmentData(name, shared);
    this.counters = new Int32Array(shared);
  }

  /** Live pointers and small state. */
  readonly pointers = POINTERS;
  /** Which files there are. */
  readonly files = FILES;

  /** The rows of one version of a view. Two versions may share a slot: that costs a look at the file, no more. */
  rows(view: string, version: number): number {
    let hash = version;
    for (let index = 0; index < view.length; index += 1) hash = (Math.imul(hash, 31) + view.charCodeAt(index)) | 0;
    return 2 + (Math.abs(hash) % (SLOTS - 2));
  }

  read(slot: number): number {
    return Atomics.load(this.counters, slot);
  }

  raise(slot: number): void {
    Atomics.add(this.counters, slot, 1);
  }
}
