import type { Position, StoredEvent } from '@app/kernel';
import type { Found } from './server-reader';

/** Characters that are kept, and what an event counts besides its data and metadata: others' may have none. */
const MOST_CHARACTERS = 8 * 1024 * 1024;
const EVENT_CHARACTERS = 512;

/** The newest events of the log in memory, without gaps; others' among them. */
export class LogTail {
  private events: StoredEvent[] = [];
  private foreign = new Map<StoredEvent, string>();
  private characters = 0;
  private start: Position | null | undefined;

  /**
   * Restarts after a position, null for an empty log. There must be no event between it and the next one that is added.
   */
  reset(start: Position | null): void {
    this.events = [];
    this.foreign = new Map();
    this.characters = 0;
    this.start = start;
  }

  /** `writtenAt` for an event that others wrote. */
  add(event: StoredEvent, writtenAt: string | undefined): void {
    this.events.push(event);
    if (writtenAt !== undefined) this.foreign.set(event, writtenAt);
    this.characters += sizeOf(event);
    if (this.characters > MOST_CHARACTERS) this.shrink();
  }

  /** Drops the content of removed events; their places stay known. */
  empty(isRemoved: (event: StoredEvent) => boolean): void {
    this.events = this.events.map((event) =>
      isRemoved(event) && !this.foreign.has(event) ? { ...event, data: '', metadata: '' } : event,
    );
  }

  /**
   * Whether all events after a position are here, as far as is known: it is the position of an event here, or the
   * start.
   */
  has(position: Position | null): boolean {
    return position === this.start || this.indexOf(position) >= 0;
  }

  /** Events after a position; undefined if some of them are not here. */
  after(position: Position | null, limit: number): Found | undefined {
    if (!this.has(position)) return undefined;
    const first = this.indexOf(position) + 1;
    const events = this.events.slice(first, first + limit);
    // A copy: it stays complete when events are dropped here.
    return { events, foreign: this.foreignAmong(events), isWhole: true };
  }

  private foreignAmong(events: readonly StoredEvent[]): ReadonlyMap<StoredEvent, string> {
    const among = new Map<StoredEvent, string>();
    if (this.foreign.size === 0) return among;
    for (const event of events) {
      const writtenAt = this.foreign.get(event);
      if (writtenAt !== undefined) among.set(event, writtenAt);
    }
    return among;
  }

  private shrink(): void {
    const half = Math.ceil(this.events.length / 2);
    const gone = this.events.slice(0, half);
    this.start = gone.at(-1)?.position;
    this.events = this.events.slice(half);
    for (const event of gone) this.foreign.delete(event);
    this.characters = this.events.reduce((sum, each) => sum + sizeOf(each), 0);
  }

  private indexOf(position: Position | null): number {
    if (position === null) return -1;
    let low = 0;
    let high = this.events.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const at = (this.events[middle] as StoredEvent).position;
      if (at === position) return middle;
      if (at < position) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }
}

const sizeOf = ({ data, metadata }: StoredEvent): number => EVENT_CHARACTERS + data.length + metadata.length;
