import type { Logger, Position, StoredEvent } from '@app/kernel';
import { type DeadLetter, PoisonEvent } from '../dead-letter';
import type { ProjectingEvents } from '../events';
import { PageWriter, type PageWriterOptions } from './page-writer';

/** Positions that a slice remembers. */
const REMEMBERED = 1_000;

export interface FollowedSliceOptions extends Omit<PageWriterOptions, 'onPoison'> {
  readonly logger: Logger;
  readonly events: ProjectingEvents;
}

/** One slice of a build that follows the log: what was handled, and what was not. */
export class FollowedSlice {
  private position: Position | null;
  private readonly handled: HandledPositions;
  private committedAt: number;

  private constructor(
    private readonly options: FollowedSliceOptions,
    readonly writer: PageWriter,
  ) {
    this.position = writer.checkpoint.position;
    this.handled = new HandledPositions(this.position);
    this.committedAt = options.clock.now().getTime();
  }

  /** Starts at the slice's checkpoint. Throws `Fenced` when a later holder of the lease writes it. */
  static async open(options: FollowedSliceOptions): Promise<FollowedSlice> {
    return new FollowedSlice(options, await PageWriter.open({ ...options, onPoison: 'park' }));
  }

  get slice(): number {
    return this.options.slice;
  }

  /**
   * Everything in the slice up to here is handled. May be ahead of the stored checkpoint, but never of the visible
   * state.
   */
  get reached(): Position | null {
    return this.position;
  }

  /** Handles a page of the slice's events; a page that comes again adds nothing. */
  async handle(page: readonly StoredEvent[], upTo: Position): Promise<void> {
    const fresh = page.filter((event) => isAfter(event.position, this.position));
    if (fresh.length < page.length)
      await this.parkLate(
        page.filter((event) => !isAfter(event.position, this.position) && !this.handled.has(event.position)),
      );
    assertOrdered(fresh);
    if (fresh.length > 0) await this.write(fresh, upTo);
    else this.pass(upTo);
  }

  /** Nothing up to here is of the slice. */
  pass(upTo: Position): void {
    if (isAfter(upTo, this.position)) this.position = upTo;
  }

  /** Stores how far it came. */
  async settle(): Promise<void> {
    if (this.position !== this.writer.checkpoint.position) await this.writer.commit(NOTHING, this.position);
    this.committedAt = this.options.clock.now().getTime();
  }

  /** When its checkpoint was last stored, milliseconds. */
  get settledAt(): number {
    return this.committedAt;
  }

  private async write(events: readonly StoredEvent[], upTo: Position): Promise<void> {
    const { store, version, events: emitter } = this.options;
    const before = new Set(this.writer.letters.values());
    const started = performance.now();
    await this.writer.write(await this.writer.fold(events), upTo);
    emitter.emit('handled', {
      view: store.name,
      version,
      events: events.length,
      milliseconds: performance.now() - started,
    });
    for (const event of events) this.handled.add(event.position);
    this.announce(before);
    this.position = upTo;
    this.committedAt = this.options.clock.now().getTime();
  }

  /** An unhandled event before handled ones: applying it now could undo later events, so it waits for a decision. */
  private async parkLate(events: readonly StoredEvent[]): Promise<void> {
    const before = new Set(this.writer.letters.values());
    for (const event of events) {
      const letter = this.writer.poisoned(
        new PoisonEvent(event, 'order', 'arrived after later events had been handled'),
      );
      await this.writer.commit(
        {
          handled: 1,
          changes: [],
          letters: new Map(this.writer.letters.has(event.stream) ? [] : [[event.stream, letter]]),
        },
        this.position,
      );
      this.handled.add(event.position);
    }
    this.announce(before);
  }

  private announce(before: ReadonlySet<DeadLetter>): void {
    for (const letter of this.writer.letters.values()) {
      if (before.has(letter)) continue;
      this.options.logger.error(
        {
          view: letter.name,
          eventId: letter.eventId,
          stream: letter.stream,
          reason: letter.reason,
          detail: letter.detail,
        },
        'Event became a dead letter.',
      );
      this.options.events.emit('deadLettered', letter);
    }
  }
}

const NOTHING = { handled: 0, changes: [], letters: new Map<string, DeadLetter | null>() };

const isAfter = (position: Position, other: Position | null): boolean => other === null || position > other;

const assertOrdered = (events: readonly StoredEvent[]): void => {
  for (const [index, event] of events.entries()) {
    const before = events[index - 1];
    if (before !== undefined && before.position > event.position)
      throw new Error(`events arrived out of order at ${event.position}`);
  }
};

export interface FollowedSlicesOptions extends Omit<FollowedSliceOptions, 'slice' | 'fence'> {
  /** The slices to follow, each with the fence of its lease. */
  readonly held: ReadonlyMap<number, number>;
}

export const openSlices = (options: FollowedSlicesOptions): Promise<readonly FollowedSlice[]> =>
  all([...options.held].map(([slice, fence]) => FollowedSlice.open({ ...options, slice, fence })));

/** The slice that is furthest behind says how far all are. */
export const leastOf = (slices: readonly Pick<FollowedSlice, 'reached'>[]): Position | null =>
  slices.reduce<Position | null | undefined>(
    (least, { reached }) =>
      least === undefined || (least !== null && (reached === null || reached < least)) ? reached : least,
    undefined,
  ) ?? null;

/** Null where all are. */
export const latestOf = (positions: readonly (Position | null)[]): Position | null =>
  positions.reduce(
    (latest, position) => (latest === null || (position !== null && position > latest) ? position : latest),
    null,
  );

/** Waits for all, even if one fails: no work may continue while the caller tries again. */
export const all = async <T>(work: readonly Promise<T>[]): Promise<readonly T[]> => {
  await Promise.allSettled(work);
  return Promise.all(work);
};

/** Distinguishes a repeated delivery from a late one: remembers the last handled events. */
class HandledPositions {
  private readonly recent = new Set<Position>();

  /** `floor`: up to here everything counts as handled. */
  constructor(private floor: Position | null) {}

  add(position: Position): void {
    this.recent.add(position);
    if (this.recent.size <= REMEMBERED) return;
    const oldest = this.recent.values().next().value as Position;
    this.recent.delete(oldest);
    this.floor = oldest;
  }

  has(position: Position): boolean {
    return (this.floor !== null && position <= this.floor) || this.recent.has(position);
  }
}
