import type { StoredEvent } from '@app/kernel';
import { LRUCache } from 'lru-cache';
import { type EventRow, isRemoved, storedEvent } from './event-row';
import type { EventTable } from './event-table';

/** Events per read. */
const CHUNK = 250;
/** Keep this many characters of events, including the cost of objects. In one turn each of some twenty followers reads the next chunk, and all go through all of them: with room for fewer each would be read again and again. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
const OVERHEAD = 300;
/** Drop everything after this long without a request: no follower is far behind any more. */
const KEPT_MS = 10_000;

/** Consecutive events; undefined for a removed one. */
type Events = readonly (StoredEvent | undefined)[];

/** Events of one read, and their types: a follower that wants none of these types can skip them all. */
interface Chunk {
  readonly events: Events;
  readonly types: ReadonlySet<string>;
}

/** What stands behind a position. */
export interface Passed extends Chunk {
  /** It was at hand. */
  readonly wasKnown: boolean;
}

/**
 * Caches recently read events for followers that are far behind: they pass the same places shortly after each other, so
 * each event is read and verified once. Only for a reader that is notified of removals.
 */
export class PassedEvents {
  private readonly chunks = new LRUCache<number, Chunk>({
    maxSize: MOST_CHARACTERS,
    // A chunk above the limit replaces all others: it is read in several pages.
    sizeCalculation: ({ events }) => Math.min(sizeOf(events), MOST_CHARACTERS),
  });
  private forgetting: NodeJS.Timeout | undefined;

  /** Forgets all after a removal: what was removed must not be shown. */
  clear(): void {
    clearTimeout(this.forgetting);
    this.forgetting = undefined;
    this.chunks.clear();
  }

  /** The events behind a position, to the end of their chunk; undefined for a chunk that the log does not fill up to `head`. */
  after(position: number, head: number, table: EventTable): Passed | undefined {
    const number = Math.floor(position / CHUNK);
    const [before, last] = [number * CHUNK, (number + 1) * CHUNK];
    if (last > head) return undefined;
    const known = this.chunks.get(number);
    const { events, types } = known ?? chunkOf(table.after(before, last));
    if (known === undefined) this.chunks.set(number, { events, types });
    this.forgetting = this.forgetting?.refresh() ?? setTimeout(() => this.clear(), KEPT_MS).unref();
    return {
      events: position === before ? events : events.slice(position - before),
      types,
      wasKnown: known !== undefined,
    };
  }
}

const chunkOf = (rows: readonly EventRow[]): Chunk => ({
  events: rows.map((row) => (isRemoved(row) ? undefined : storedEvent(row))),
  types: new Set(rows.map((row) => row[4])),
});

const sizeOf = (events: Events): number =>
  events.reduce(
    (sum, event) => sum + OVERHEAD + (event === undefined ? 0 : event.data.length + event.metadata.length),
    0,
  );
