import type { Position, StoredEvent } from '@app/kernel';
import type { FoldedPage, PageWriter } from '../following/page-writer';
import { sliceOf } from '../views/slices';

/** Most characters of events in one commit, plus up to a page: events may be large. */
const MOST_CHARACTERS = 16 * 1024 * 1024;

/** What one commit of each slice will write. */
export type BuildBatch = ReadonlyMap<PageWriter, FoldedPage>;

/**
 * The slices of a build that one process writes: pages of the log are divided between them, and each commits its own
 * part.
 */
export class BuildParts {
  constructor(
    private readonly slices: number,
    private readonly writers: ReadonlyMap<number, PageWriter>,
  ) {}

  /** The slice that is furthest behind says where to read on. */
  get position(): Position | null {
    const positions = [...this.writers.values()].map(({ checkpoint }) => checkpoint.position);
    return positions.includes(null) ? null : (positions.toSorted()[0] ?? null);
  }

  get handled(): number {
    return [...this.writers.values()].reduce((sum, { checkpoint }) => sum + checkpoint.handled, 0);
  }

  /**
   * Begins a batch of at most this many events. `again` reads the events up to a position once more, if the store
   * rejects one of them.
   */
  batch(mostAtOnce: number, again: (upTo: Position | null) => Promise<readonly StoredEvent[]>): GrowingBatch {
    return new GrowingBatch(this.writers, this.slices, mostAtOnce, again);
  }

  /** Moves every slice to `upTo`, even those without events, except slices that are further ahead. */
  async write(batch: BuildBatch, upTo: Position): Promise<void> {
    const writes = [...batch].map(async ([writer, page]) => {
      if (isAfter(upTo, writer.checkpoint.position)) await writer.write(page, upTo);
    });
    await Promise.allSettled(writes);
    await Promise.all(writes);
  }
}

/** Folded pages that become one commit of each slice. */
export class GrowingBatch {
  /** Events of these slices in the batch. */
  private size = 0;
  private characters = 0;
  private readonly parts: ReadonlyMap<number, { handled: number; readonly changes: FoldedPage['changes'][number][] }>;

  constructor(
    private readonly writers: ReadonlyMap<number, PageWriter>,
    private readonly slices: number,
    private readonly mostAtOnce: number,
    private readonly again: (upTo: Position | null) => Promise<readonly StoredEvent[]>,
  ) {
    this.parts = new Map([...writers.keys()].map((slice) => [slice, { handled: 0, changes: [] }]));
  }

  /** How many events still have room; 0 where the batch is to be written. */
  get remaining(): number {
    return this.characters >= MOST_CHARACTERS ? 0 : Math.max(0, this.mostAtOnce - this.size);
  }

  async add(events: readonly StoredEvent[]): Promise<void> {
    const divided =
      this.slices === 1 ? new Map([[0, events]]) : Map.groupBy(events, ({ stream }) => sliceOf(stream, this.slices));
    for (const [slice, writer] of this.writers) {
      const part = this.parts.get(slice);
      const own = waiting(divided.get(slice) ?? [], writer);
      if (part === undefined || own.length === 0) continue;
      for (const change of (await writer.fold(own)).changes) part.changes.push(change);
      part.handled += own.length;
      this.size += own.length;
      for (const event of own) this.characters += writer.charactersOf(event);
    }
  }

  pages(upTo: Position | null): BuildBatch {
    return new Map(
      [...this.writers].map(([slice, writer]) => {
        const { handled = 0, changes = [] } = this.parts.get(slice) ?? {};
        const events = async (): Promise<readonly StoredEvent[]> =>
          waiting(
            (await this.again(upTo)).filter(({ stream }) => sliceOf(stream, this.slices) === slice),
            writer,
          );
        return [writer, { handled, changes, letters: new Map(), events }];
      }),
    );
  }
}

/** Without what the slice has handled in an earlier run. */
const waiting = (events: readonly StoredEvent[], { checkpoint: { position } }: PageWriter): readonly StoredEvent[] =>
  events.length === 0 || position === null || (events[0] as StoredEvent).position > position
    ? events
    : events.filter((event) => event.position > position);

const isAfter = (position: Position, other: Position | null): boolean => other === null || position > other;
