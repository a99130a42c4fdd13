import type { StoredEvent } from '@app/kernel';

const MOST_EVENTS = 4_096;
const MOST_CHARACTERS = 4 * 1024 * 1024;

/** The newest events as they were appended, so that those who follow the log at its head need not read them from the disk. */
export class RecentEvents {
  private events: StoredEvent[] = [];
  private characters = 0;

  /** Nothing is kept of what came up to `last`, the newest position. */
  constructor(private last: number) {}

  /** Adds the event at the next position. */
  add(event: StoredEvent): void {
    this.events.push(event);
    this.last += 1;
    this.characters += event.data.length + event.metadata.length;
    if (this.events.length > MOST_EVENTS || this.characters > MOST_CHARACTERS) this.halve();
  }

  clear(last: number): void {
    this.events = [];
    this.characters = 0;
    this.last = last;
  }

  /** The event at a position; undefined when it is not kept. */
  at(position: number): StoredEvent | undefined {
    return this.events[this.events.length - 1 - (this.last - position)];
  }

  private halve(): void {
    this.events = this.events.slice(Math.ceil(this.events.length / 2));
    this.characters = this.events.reduce((sum, event) => sum + event.data.length + event.metadata.length, 0);
  }
}
