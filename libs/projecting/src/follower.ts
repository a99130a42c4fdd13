import type { EventLog, Subscription } from '@app/event-log';
import type { Clock, EventCodec, Position, StoredEvent } from '@app/kernel';
import { type DeadLetter, PoisonEvent } from './dead-letter';
import type { ProjectingEvents } from './events';
import { HandledPositions } from './handled-positions';
import { errorName, type Logger } from './logger';
import { Mutex } from './mutex';
import { PageWriter } from './page-writer';
import { replayStream } from './replay';
import { isCheckpointMismatch, isFenced } from './transient';
import type { ViewStore } from './view-store';

/** A view with this many dead letters stops until some are solved: then the fault is not in the events. */
const MOST_LETTERS = 10_000;
/** How long a checkpoint may stay behind when only events of other types came by. */
const CHECKPOINT_EVERY_MS = 5_000;
const PAGE = 500;

export interface FollowerOptions {
  readonly store: ViewStore;
  readonly version: number;
  readonly fence: number;
  readonly log: EventLog;
  readonly codec: EventCodec;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: ProjectingEvents;
  readonly skip: ReadonlySet<string>;
  readonly onAdvance: (position: Position | null) => void;
  /** Another holder of the lease writes: this one must stop. */
  readonly onFenced: () => void;
}

/** Keeps one build of a view up with the log. */
export class Follower {
  private reached: Position | null;
  private readonly mutex = new Mutex();
  private handled: HandledPositions;
  private subscription: Subscription | undefined;
  private committedAt: number;
  private stopped = false;

  private constructor(
    private readonly options: FollowerOptions,
    private writer: PageWriter,
  ) {
    this.reached = writer.checkpoint.position;
    this.handled = new HandledPositions(this.reached);
    this.committedAt = options.clock.now().getTime();
  }

  /** Starts after the build's checkpoint. Throws `Fenced` when a later holder of the lease writes the view. */
  static async start(options: FollowerOptions): Promise<Follower> {
    const follower = new Follower(options, await PageWriter.open({ ...options, onPoison: 'park' }));
    follower.subscribe();
    options.onAdvance(follower.position);
    return follower;
  }

  get version(): number {
    return this.options.version;
  }

  /** Everything up to here is handled. May be ahead of the stored checkpoint, never of what is visible. */
  get position(): Position | null {
    return this.reached;
  }

  /** Events handled since the build began. */
  get count(): number {
    return this.writer.checkpoint.handled;
  }

  get caughtUp(): boolean {
    return this.subscription?.caughtUp ?? false;
  }

  /** False when dead letters keep it from going on, or after `stop`. */
  get running(): boolean {
    return !this.stopped && this.writer.letters.size < MOST_LETTERS;
  }

  get letters(): ReadonlyMap<string, DeadLetter> {
    return this.writer.letters;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.subscription?.stop();
    await this.mutex.run(async () => {
      if (this.reached !== this.writer.checkpoint.position) await this.writer.commit(NOTHING, this.reached);
    }).catch((error: unknown) => this.options.logger.warn({ view: this.options.store.name, error: errorName(error) }, 'the last checkpoint of a view was not stored; it will pass over the same events again'));
  }

  /** Lets nothing in while `work` runs; what arrives is handled after. */
  hold<T>(work: (advanceTo: (position: Position | null) => Promise<void>) => Promise<T>): Promise<T> {
    return this.mutex.run(() => work((position) => this.advanceTo(position)));
  }

  /**
   * Handles the waiting events of a stream again, from the dead letter on, in order. `discard` passes over the event
   * itself. Resolves to the dead letter that stands there then, undefined when the stream flows again.
   */
  replay(letter: DeadLetter, { discard }: { readonly discard: boolean }): Promise<DeadLetter | undefined> {
    return this.mutex.run(async () => {
      const present = this.writer.letters.get(letter.stream);
      if (present?.eventId !== letter.eventId) return present;
      return replayStream(this.writer, this.options.log, this.options.store.types, present, this.reached, discard);
    });
  }

  private subscribe(): void {
    const { store, log, version, events } = this.options;
    this.subscription = log.subscribe({
      name: `${store.name}/${version}`,
      after: this.reached,
      filter: { types: store.types },
      pageSize: Math.min(PAGE, store.mostAtOnce),
      onEvents: (page, upTo) => this.mutex.run(() => this.onEvents(page, upTo)),
      onError: (error, attempt) => {
        this.options.logger.warn({ view: store.name, version, attempt, error: errorName(error) }, 'a view could not be written; trying again');
        events.emit('failed', { view: store.name, version, error });
      },
    });
  }

  private async onEvents(page: readonly StoredEvent[], upTo: Position): Promise<void> {
    if (this.stopped) return;
    try {
      await this.handle(page, upTo);
    } catch (error) {
      if (isFenced(error)) this.options.onFenced();
      if (isCheckpointMismatch(error)) void this.reopen();
      throw error;
    }
    this.options.onAdvance(this.reached);
  }

  private async handle(page: readonly StoredEvent[], upTo: Position): Promise<void> {
    if (!this.running) throw new Error(`${this.options.store.name} has ${MOST_LETTERS} dead letters: solve some first`);
    const fresh = page.filter((event) => isAfter(event.position, this.reached));
    await this.parkLate(page.filter((event) => !isAfter(event.position, this.reached) && !this.handled.has(event.position)));
    assertOrdered(fresh);
    if (fresh.length > 0) await this.write(fresh, upTo);
    else await this.pass(upTo);
  }

  private async write(events: readonly StoredEvent[], upTo: Position): Promise<void> {
    const { store, version, events: emitter } = this.options;
    const before = new Set(this.writer.letters.values());
    const started = performance.now();
    await this.writer.write(await this.writer.fold(events), upTo);
    emitter.emit('handled', { view: store.name, version, events: events.length, milliseconds: performance.now() - started });
    for (const event of events) this.handled.add(event.position);
    this.announce(before);
    this.moved(upTo);
  }

  /** Only events of other types came by: remembered, and stored now and then. */
  private async pass(upTo: Position): Promise<void> {
    if (!isAfter(upTo, this.reached)) return;
    if (this.options.clock.now().getTime() - this.committedAt >= CHECKPOINT_EVERY_MS) await this.writer.commit(NOTHING, upTo);
    this.reached = upTo;
    if (this.writer.checkpoint.position === upTo) this.moved(upTo);
  }

  private moved(upTo: Position): void {
    this.reached = upTo;
    this.committedAt = this.options.clock.now().getTime();
  }

  /** An event that stands before what was handled, and was not: applied now it could undo what came after, so it waits for a decision. */
  private async parkLate(events: readonly StoredEvent[]): Promise<void> {
    const before = new Set(this.writer.letters.values());
    for (const event of events) {
      const letter = this.writer.poisoned(new PoisonEvent(event, 'order', 'arrived after later events had been handled'));
      await this.writer.commit({ handled: 1, changes: [], letters: new Map(this.writer.letters.has(event.stream) ? [] : [[event.stream, letter]]) }, this.reached);
      this.handled.add(event.position);
    }
    this.announce(before);
  }

  private announce(before: ReadonlySet<DeadLetter>): void {
    for (const letter of this.writer.letters.values()) {
      if (before.has(letter)) continue;
      this.options.logger.error({ view: letter.name, eventId: letter.eventId, stream: letter.stream, reason: letter.reason, detail: letter.detail }, 'an event became a dead letter');
      this.options.events.emit('deadLettered', letter);
    }
  }

  /** Somebody else wrote the build, or a commit of ours had an unknown outcome: goes on from what the store says. */
  private async reopen(): Promise<void> {
    await this.subscription?.stop();
    if (this.stopped) return;
    try {
      this.writer = await this.mutex.run(() => PageWriter.open({ ...this.options, onPoison: 'park' }));
    } catch (error) {
      this.options.logger.error({ view: this.options.store.name, error: errorName(error) }, 'a view could not be opened again');
      return isFenced(error) ? this.options.onFenced() : void setTimeout(() => void this.reopen(), 1_000).unref();
    }
    this.reached = this.writer.checkpoint.position;
    this.handled = new HandledPositions(this.reached);
    this.subscribe();
  }

  private async advanceTo(position: Position | null): Promise<void> {
    while (position !== null && isAfter(position, this.reached)) {
      const { types, mostAtOnce } = this.options.store;
      const page = await this.options.log.readAll({ after: this.reached, limit: Math.min(PAGE, mostAtOnce), filter: { types } });
      const events = page.events.filter((event) => event.position <= position);
      const last = page.end || events.length < page.events.length || page.next === null || page.next >= position;
      const upTo = last ? position : (page.next as Position);
      if (events.length > 0) await this.write(events, upTo);
      this.reached = upTo;
    }
    this.options.onAdvance(this.reached);
  }
}

const NOTHING = { handled: 0, changes: [], letters: new Map<string, DeadLetter | null>() };

const isAfter = (position: Position, other: Position | null): boolean => other === null || position > other;

const assertOrdered = (events: readonly StoredEvent[]): void => {
  for (const [index, event] of events.entries()) {
    const before = events[index - 1];
    if (before !== undefined && before.position > event.position) throw new Error(`events arrived out of order at ${event.position}`);
  }
};
