import type { StoredEvent } from '@app/kernel';
import { LRUCache } from 'lru-cache';
import { isRemoved, storedEvent } from './event-row';
import type { EventTable } from './event-table';

/** Events per read. */
const CHUNK = 250;
/** Keep this many characters of events, including the cost of objects. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
const OVERHEAD = 300;
/** Forget all after this long without a request: nobody is far behind any more. */
const KEPT_MS = 10_000;

/** Consecutive events; undefined for a removed one. */
type Chunk = readonly (StoredEvent | undefined)[];

/**
 * Caches recently read events for followers that are far behind: they pass the same places shortly after each other,
 * and each event is read and verified once for all. Only for a reader that is told of removals.
 */
export class PassedEvents {
  private readonly chunks = new LRUCache<number, Chunk>({
    maxSize: MOST_CHARACTERS,
    // A chunk above the limit replaces all others: it is read in several pages.
    sizeCalculation: (chunk) => Math.min(sizeOf(chunk), MOST_CHARACTERS),
  });
  private forgetting: NodeJS.Timeout | undefined;

  /** Forgets all after a removal: what was removed must not be shown. */
  clear(): void {
    clearTimeout(this.forgetting);
    this.forgetting = undefined;
    this.chunks.clear();
  }

  /** The events behind a position, to the end of their chunk, and whether they were at hand; undefined for a chunk that the log does not fill up to `head`. */
  after(
    position: number,
    head: number,
    table: EventTable,
  ): { readonly events: Chunk; readonly wasKnown: boolean } | undefined {
    const number = Math.floor(position / CHUNK);
    const [before, last] = [number * CHUNK, (number + 1) * CHUNK];
    if (last > head) return undefined;
    const known = this.chunks.get(number);
    const chunk = known ?? table.after(before, last).map((row) => (isRemoved(row) ? undefined : storedEvent(row)));
    if (known === undefined) this.chunks.set(number, chunk);
    this.forgetting = this.forgetting?.refresh() ?? setTimeout(() => this.clear(), KEPT_MS).unref();
    return { events: position === before ? chunk : chunk.slice(position - before), wasKnown: known !== undefined };
  }
}

const sizeOf = (chunk: Chunk): number =>
  chunk.reduce(
    (sum, event) => sum + OVERHEAD + (event === undefined ? 0 : event.data.length + event.metadata.length),
    0,
  );
