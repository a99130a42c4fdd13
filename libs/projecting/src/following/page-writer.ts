import {
  type Clock,
  decodeContext,
  MAX_ATTEMPTS,
  type Position,
  type RecordedEvent,
  type StoredEvent,
  Unavailable,
} from '@app/kernel';
import { type Checkpoint, CheckpointMismatch } from '@app/read-store/threads';
import {
  type DeadLetter,
  deadLetter,
  describeError,
  isCheckpointMismatch,
  isTransient,
  isUnreadable,
  PoisonEvent,
} from '../dead-letter';
import type { EventReader } from './shared-reader';
import { sliceOf } from '../views/slices';
import type { ViewBatch, ViewStore } from '../views/view-store';

export interface PageWriterOptions {
  readonly store: ViewStore;
  /** Build that is written. */
  readonly version: number;
  /** Slice of the streams that is written. */
  readonly slice: number;
  readonly fence: number;
  /** Undefined where a thread writes views of context alone. */
  readonly codec: EventReader | undefined;
  readonly clock: Clock;
  /** Ids of events that an operator discarded. */
  readonly skip: ReadonlySet<string>;
  /**
   * What happens to an event that cannot be handled: `park` makes it a dead letter, `stop` ends the work with
   * `PoisonEvent`.
   */
  readonly onPoison: 'park' | 'stop';
}

type Changes = ViewBatch<unknown>['changes'];

/** Events turned into operations, before they are written. */
export interface FoldedPage {
  /** How many events these were. */
  readonly handled: number;
  /** The events again, for the search of one that the store rejects. */
  readonly events: () => Promise<readonly StoredEvent[]>;
  readonly changes: Changes;
  /** New dead letters of the page, by stream. */
  readonly letters: ReadonlyMap<string, DeadLetter | null>;
}

/**
 * Writes pages of events into one build of a view: decode, apply, then one commit with the checkpoint, which moves only
 * if it is still where this writer left it. Only this class decides how to treat a failed event.
 */
export class PageWriter {
  private constructor(
    private readonly options: PageWriterOptions,
    private stored: Checkpoint,
    private readonly parked: Map<string, DeadLetter>,
  ) {}

  /** Reads the position of the build and raises its fence, so earlier writers are rejected from now on. */
  static async open(options: PageWriterOptions): Promise<PageWriter> {
    const { store, version, slice, fence } = options;
    for (let attempt = 1; ; attempt += 1) {
      const checkpoint = await store.checkpoint(version, slice);
      if (checkpoint === undefined)
        throw new Unavailable(`the view ${store.name}`, `its build ${version} is not there`);
      try {
        await store.commit(version, {
          slice,
          changes: [],
          from: checkpoint.position,
          to: checkpoint,
          fence,
          letters: new Map(),
        });
      } catch (error) {
        // The earlier writer was faster once more.
        if (isCheckpointMismatch(error) && attempt < MAX_ATTEMPTS) continue;
        throw error;
      }
      const letters = (await store.letters(version)).filter(({ stream }) => sliceOf(stream, store.slices) === slice);
      return new PageWriter(options, checkpoint, new Map(letters.map((letter) => [letter.stream, letter])));
    }
  }

  /** What the store holds. */
  get checkpoint(): Checkpoint {
    return this.stored;
  }

  /** Dead letters by stream: at most one a stream, since later events wait behind it. */
  get letters(): ReadonlyMap<string, DeadLetter> {
    return this.parked;
  }

  /** Characters that the operations of an event come from. */
  charactersOf({ data, metadata }: StoredEvent): number {
    return metadata.length + (this.options.store.contextOnly ? 0 : data.length);
  }

  /** Turns events into operations. Skips events of streams with a dead letter. */
  async fold(
    events: readonly StoredEvent[],
    letters: ReadonlyMap<string, DeadLetter> = this.parked,
  ): Promise<FoldedPage> {
    const { store, skip } = this.options;
    const read = await this.reading(events);
    const changes: { position: Position; operations: readonly unknown[] }[] = [];
    const failed = new Map<string, DeadLetter>();
    for (const event of events) {
      if (isIn(letters, event.stream) || isIn(failed, event.stream) || isIn(skip, event.id)) continue;
      try {
        const given = store.operations(read(event));
        const operations = given instanceof Promise ? await given : given;
        if (operations.length > 0) changes.push({ position: event.position, operations });
      } catch (error) {
        if (isTransient(error)) throw error;
        failed.set(
          event.stream,
          this.poisoned(new PoisonEvent(event, isUnreadable(error) ? error.reason : 'apply', describeError(error))),
        );
      }
    }
    return { handled: events.length, events: async () => events, changes, letters: failed };
  }

  /**
   * Commits a folded page. If the store rejects the content of a page, the page is halved until the rejected event is
   * found. Errors of the store itself (unavailable, busy, fenced, written by another) are thrown, and nothing is parked
   * for them.
   */
  async write(page: FoldedPage, upTo: Position): Promise<void> {
    try {
      await this.commit(page, upTo);
    } catch (error) {
      if (page.changes.length === 0 || isTransient(error) || !(await this.options.store.healthy())) throw error;
      const events = await page.events();
      const [first] = events;
      if (first === undefined) throw error;
      if (events.length === 1) {
        const letter = this.poisoned(new PoisonEvent(first, 'sink', describeError(error)));
        return this.commit({ ...page, changes: [], letters: new Map([[first.stream, letter]]) }, upTo);
      }
      const half = Math.ceil(events.length / 2);
      await this.write(await this.fold(events.slice(0, half)), (events[half - 1] as StoredEvent).position);
      await this.write(await this.fold(events.slice(half)), upTo);
    }
  }

  /** Commits as it is: all or nothing. */
  async commit(
    { handled, changes, letters }: Pick<FoldedPage, 'handled' | 'changes' | 'letters'>,
    upTo: Position | null,
  ): Promise<void> {
    const { store, version, slice, fence } = this.options;
    const to: Checkpoint = { position: upTo, handled: this.stored.handled + handled };
    await store.commit(version, { slice, changes, from: this.stored.position, to, fence, letters });
    this.stored = to;
    for (const [stream, letter] of letters) {
      if (letter === null) this.parked.delete(stream);
      else this.parked.set(stream, letter);
    }
  }

  /** Throws `CheckpointMismatch` if the store is not where this writer left it. A removed build has no position. */
  async confirm(): Promise<void> {
    const { store, version, slice } = this.options;
    const found = await store.checkpoint(version, slice);
    if (found !== undefined && found.position !== this.stored.position)
      throw new CheckpointMismatch(
        `${store.name}/${version}/${slice} is at ${found.position}, not at ${this.stored.position}`,
      );
  }

  /** Reads these events, as much of them as the view takes. */
  private async reading(events: readonly StoredEvent[]): Promise<(event: StoredEvent) => RecordedEvent> {
    const { store, codec } = this.options;
    if (store.contextOnly) return decodeContext;
    if (codec === undefined) throw new Error(`${store.name} reads data, and there is nothing to read them with`);
    const keys = await codec.keysOf(events);
    return (event) => codec.decodeWith(event, keys);
  }

  /** The dead letter of an event, or the end of the work where a poisonous event must stop it. */
  poisoned(poison: PoisonEvent): DeadLetter {
    if (this.options.onPoison === 'stop') throw poison;
    const earlier = this.parked.get(poison.event.stream);
    const attempts = earlier?.eventId === poison.event.id ? earlier.attempts + 1 : 1;
    return deadLetter('projection', this.options.store.name, poison, attempts, this.options.clock.now());
  }
}

/** Text that was just read has no hash yet: even a lookup in an empty map would cost a tenth of a rebuild. */
const isIn = (known: ReadonlyMap<string, unknown> | ReadonlySet<string>, key: string): boolean =>
  known.size > 0 && known.has(key);
