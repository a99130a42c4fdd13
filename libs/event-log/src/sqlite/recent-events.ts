import type { StoredEvent } from '@app/kernel';

const MOST_EVENTS = 4_096;
const MOST_CHARACTERS = 4 * 1024 * 1024;

/**
 * The newest events of the log in memory, by position and by stream: all that the index of streams does not know yet, and
 * some more, so that those who follow the log at its head need not read them from the disk.
 */
export class RecentEvents {
  /** Ordered by position; undefined for a removed event. */
  private events: (StoredEvent | undefined)[] = [];
  private streams = new Map<string, StoredEvent[]>();
  private characters = 0;
  private last = 0;

  /** Adds the event at the next position; undefined for a removed one. */
  add(event: StoredEvent | undefined): void {
    this.events.push(event);
    this.last += 1;
    if (event === undefined) return;
    this.characters += sizeOf(event);
    const stream = this.streams.get(event.stream);
    if (stream === undefined) this.streams.set(event.stream, [event]);
    else stream.push(event);
  }

  /** Starts over after a position. */
  clear(last: number): void {
    this.events = [];
    this.streams = new Map();
    this.characters = 0;
    this.last = last;
  }

  /** The event at a position; undefined if it is not in memory. */
  at(position: number): StoredEvent | undefined {
    return this.events[this.events.length - 1 - (this.last - position)];
  }

  /** The events of a stream that are in memory, oldest first. */
  of(stream: string): readonly StoredEvent[] {
    return this.streams.get(stream) ?? NONE;
  }

  /** Drops the events of a stream below a revision. */
  remove(stream: string, before: number): void {
    const events = this.of(stream);
    const kept = events.filter(({ revision }) => revision >= before);
    if (kept.length === events.length) return;
    for (const event of events) if (event.revision < before) this.characters -= sizeOf(event);
    if (kept.length === 0) this.streams.delete(stream);
    else this.streams.set(stream, kept);
    this.events = this.events.map((event) => (event?.stream === stream && event.revision < before ? undefined : event));
  }

  /** Lets go of the oldest where more are kept than need be; those after a position must stay. */
  shrink(upTo: number): void {
    const first = this.last - this.events.length + 1;
    let count = 0;
    while (first + count <= upTo && (this.events.length - count > MOST_EVENTS || this.characters > MOST_CHARACTERS)) {
      const event = this.events[count];
      count += 1;
      if (event !== undefined) this.letGo(event);
    }
    this.events = this.events.slice(count);
  }

  /** Drops the oldest event of its stream. */
  private letGo(event: StoredEvent): void {
    this.characters -= sizeOf(event);
    const stream = this.streams.get(event.stream);
    stream?.shift();
    if (stream?.length === 0) this.streams.delete(event.stream);
  }
}

const NONE: readonly StoredEvent[] = Object.freeze([]);

const sizeOf = ({ data, metadata }: StoredEvent): number => data.length + metadata.length;
