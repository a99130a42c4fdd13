import { setTimeout as pause } from 'node:timers/promises';
import type { EventLog, Subscription } from '@app/event-log';
import { errorName, isDamaged, Mutex, type Position, type StoredEvent, Unavailable } from '@app/kernel';
import { type CatchUp, FAR_EVENTS, isFarBehind } from './catch-up';
import { type DeadLetter, isCheckpointMismatch, isFenced } from '../dead-letter';
import { all, type FollowedSlice, type FollowedSlicesOptions, latestOf, leastOf, openSlices } from './followed-slices';
import { replayStream } from './replay';
import { sliceOf } from '../views/slices';

/** A view with this many dead letters stops until some are solved: the fault is then not in the events. */
const MOST_LETTERS = 10_000;
const PAGE = 500;
/** How long a checkpoint may stay behind; longer by the number of slices. */
const CHECKPOINT_EVERY_MS = 5_000;
const REOPEN_MS = 1_000;
/** Most consecutive pages without reaching the end of the log. Beyond that, a thread catches the view up. */
const FAR_PAGES = 5;
/** How often it is looked how far that came. */
const LOOK_MS = 500;

const AT_THE_END = { pages: 0, events: 0 };

export interface FollowerOptions extends FollowedSlicesOptions {
  readonly log: EventLog;
  readonly onAdvance: (position: Position | null) => void;
  /** Another holder of a lease writes: this one must stop. */
  readonly onFenced: () => void;
  readonly catchUp: CatchUp;
}

/** A follower that nothing else writes through. */
export interface HeldFollower {
  advanceTo(position: Position | null): Promise<void>;
  /** See `Follower.confirm`. */
  confirm(): Promise<void>;
}

/** Keeps slices of one build of a view up with the log. */
export class Follower {
  private readonly mutex = new Mutex();
  private reached: Position | null;
  private subscription: Subscription | undefined;
  private reopening: Promise<void> | undefined;
  /** What was handled since it was last at the end of the log. */
  private behind = AT_THE_END;
  private stopped = false;

  private constructor(
    private readonly options: FollowerOptions,
    private slices: readonly FollowedSlice[],
  ) {
    this.reached = leastOf(slices);
  }

  /** Starts after the checkpoints of the slices; a thread first catches up what is far behind. Throws `Fenced` when a later holder of a lease writes one. */
  static async start(options: FollowerOptions): Promise<Follower> {
    const follower = new Follower(options, await openSlices(options));
    if (follower.running && (await isFarBehind(options.log, follower.position)))
      follower.leave(() => follower.catchUp());
    else follower.subscribe();
    options.onAdvance(follower.position);
    return follower;
  }

  get version(): number {
    return this.options.version;
  }

  /** Everything of its slices up to here is handled. */
  get position(): Position | null {
    return this.reached;
  }

  /** The position of the slice that is furthest ahead. After a start, slices are where others left them. */
  get furthest(): Position | null {
    return latestOf(this.slices.map(({ reached }) => reached));
  }

  /** Events of its slices handled since the build began. */
  get count(): number {
    return this.slices.reduce((sum, { writer }) => sum + writer.checkpoint.handled, 0);
  }

  get caughtUp(): boolean {
    return this.subscription?.caughtUp ?? false;
  }

  /** False when dead letters keep it from going on, or after `stop`. */
  get running(): boolean {
    return !this.stopped && this.slices.every(({ writer }) => writer.letters.size < MOST_LETTERS);
  }

  /** By stream. */
  get letters(): ReadonlyMap<string, DeadLetter> {
    return new Map(this.slices.flatMap(({ writer }) => [...writer.letters]));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.options.catchUp.stop({ view: this.options.store.name, version: this.version });
    await this.subscription?.stop();
    await this.mutex
      .run(() => all(this.slices.map((slice) => slice.settle())))
      .catch((error: unknown) => {
        if (!isDamaged(error))
          this.options.logger.warn(
            { view: this.options.store.name, error: errorName(error) },
            'Storing the last checkpoint of a view failed. It will handle the same events again.',
          );
      });
  }

  /** Lets nothing in while `work` runs; what arrives is handled after. */
  hold<T>(work: (held: HeldFollower) => Promise<T>): Promise<T> {
    return this.mutex.run(() =>
      work({ advanceTo: (position) => this.advanceTo(position), confirm: () => this.confirmSlices() }),
    );
  }

  /**
   * Asks the store whether it still has this follower's last commit: a killed server may have lost confirmed commits,
   * and without new events no commit would notice. If not, it throws `Unavailable` and continues from the state of the
   * store.
   */
  confirm(): Promise<void> {
    return this.mutex.run(() => this.confirmSlices());
  }

  /** Handles the waiting events of a stream again, in order, from the dead letter on. `discard` skips the event itself. Resolves to the dead letter that is left, or undefined if the stream continues. */
  replay(letter: DeadLetter, { discard }: { readonly discard: boolean }): Promise<DeadLetter | undefined> {
    return this.mutex.run(async () => {
      const { store, log } = this.options;
      const followed = this.slices.find(({ slice }) => slice === sliceOf(letter.stream, store.slices));
      const present = followed?.writer.letters.get(letter.stream);
      if (followed === undefined || present?.eventId !== letter.eventId) return present;
      return replayStream(followed.writer, log, store.types, present, followed.reached, discard);
    });
  }

  private subscribe(): void {
    const { store, log, version, events } = this.options;
    this.subscription = log.subscribe({
      name: `${store.name}/${version}`,
      after: this.reached,
      filter: { types: store.types },
      pageSize: Math.min(PAGE, store.mostAtOnce),
      onEvents: (events, upTo, page) => this.mutex.run(() => this.onEvents(events, upTo, page?.end ?? true)),
      onPassed: (upTo) => this.onPassed(upTo),
      onError: (error, attempt) => {
        // What is damaged is said once, by whoever sets it aside.
        if (!isDamaged(error))
          this.options.logger.warn(
            { view: store.name, version, attempt, error: errorName(error) },
            'Writing a view failed; retrying.',
          );
        events.emit('failed', { view: store.name, version, error });
      },
    });
  }

  private async onEvents(page: readonly StoredEvent[], upTo: Position, isLast: boolean): Promise<void> {
    if (this.stopped) return;
    if (!this.running)
      throw new Error(`${this.options.store.name} has ${MOST_LETTERS} dead letters: retry or discard some first`);
    try {
      await this.handle(page, upTo);
      this.options.onAdvance(this.reached);
      await this.dueSlice()?.settle();
      const { pages, events } = this.behind;
      this.behind = isLast ? AT_THE_END : { pages: pages + 1, events: events + page.length };
      if (this.behind.pages >= FAR_PAGES || this.behind.events >= FAR_EVENTS) this.leave(() => this.catchUp());
    } catch (error) {
      if (isFenced(error)) this.options.onFenced();
      if (isCheckpointMismatch(error)) this.reopen();
      throw error;
    }
  }

  /** Skips events of other types, unless other work is running or a checkpoint is due: then they are handled like a page. */
  private onPassed(upTo: Position): boolean {
    if (!this.mutex.isFree || !this.running || this.dueSlice() !== undefined) return false;
    for (const slice of this.slices) slice.pass(upTo);
    this.reached = leastOf(this.slices);
    this.options.onAdvance(this.reached);
    return true;
  }

  private async confirmSlices(): Promise<void> {
    if (this.stopped) return;
    try {
      await all(this.slices.map(({ writer }) => writer.confirm()));
    } catch (error) {
      if (!isCheckpointMismatch(error)) throw error;
      this.reopen();
      throw new Unavailable(
        `the view ${this.options.store.name}`,
        'its store does not stand where it was written',
        'none',
        { cause: error },
      );
    }
  }

  /** If only events of other types or streams arrive, checkpoints fall behind. They are stored one at a time, the oldest first. */
  private dueSlice(): FollowedSlice | undefined {
    const { clock, store } = this.options;
    let settledBy = clock.now().getTime() - CHECKPOINT_EVERY_MS * store.slices;
    let due: FollowedSlice | undefined;
    for (const slice of this.slices) if (slice.settledAt <= settledBy) [due, settledBy] = [slice, slice.settledAt];
    return due;
  }

  /** Every slice handles its own part of the page. */
  private async handle(page: readonly StoredEvent[], upTo: Position): Promise<void> {
    const { slices: count } = this.options.store;
    const parts = count === 1 ? new Map([[0, page]]) : Map.groupBy(page, ({ stream }) => sliceOf(stream, count));
    await all(this.slices.map((slice) => slice.handle(parts.get(slice.slice) ?? [], upTo)));
    this.reached = leastOf(this.slices);
  }

  /** Another process wrote the build, or one of our commits had an unknown outcome or was lost: continues from the state of the store. */
  private reopen(): void {
    this.leave(async () => undefined);
  }

  /** Stops following, and goes on from what the store says after something else was done. */
  private leave(work: () => Promise<void>): void {
    this.reopening ??= this.openAgain(work).finally(() => (this.reopening = undefined));
  }

  /** What another thread writes: nothing else is let in meanwhile. */
  private async catchUp(): Promise<void> {
    const { store, version, held, skip, catchUp } = this.options;
    // A failed check changes nothing, and the next one follows soon. The run itself notices problems of the store.
    const looking = setInterval(() => void this.look().catch(() => undefined), LOOK_MS);
    this.behind = AT_THE_END;
    try {
      await catchUp.run({ view: store.name, version, held, shared: store.slices > 1, skip: [...skip] });
    } finally {
      clearInterval(looking);
    }
  }

  /** How far another thread came. */
  private async look(): Promise<void> {
    const { store, version, held } = this.options;
    const checkpoints = await Promise.all([...held.keys()].map((slice) => store.checkpoint(version, slice)));
    const stored = leastOf(checkpoints.map((checkpoint) => ({ reached: checkpoint?.position ?? null })));
    // It may have handled more that was none of its own, and not stored that.
    this.reached = latestOf([this.reached, stored]);
    this.options.onAdvance(this.reached);
  }

  private async openAgain(work: () => Promise<void>): Promise<void> {
    const { store, logger, onFenced } = this.options;
    await this.subscription?.stop();
    await this.mutex.run(async () => {
      if (!this.stopped) await work();
      // The store may have lost these commits: whoever stops the follower must not settle them.
      if (this.stopped) this.slices = [];
    });
    while (!this.stopped) {
      try {
        // Within the same turn: who stops it meanwhile settles these slices, not those before.
        await this.mutex.run(async () => (this.slices = await openSlices(this.options)));
        break;
      } catch (error) {
        logger.error({ view: store.name, error: errorName(error) }, 'Reopening a view failed.');
        if (isFenced(error)) return onFenced();
        await pause(REOPEN_MS, undefined, { ref: false });
      }
    }
    // It may have been stopped while the slices were opened; nobody would end a second subscription.
    if (this.stopped) return;
    this.reached = leastOf(this.slices);
    this.options.onAdvance(this.reached);
    this.subscribe();
  }

  private async advanceTo(position: Position | null): Promise<void> {
    while (position !== null && (this.reached === null || position > this.reached)) {
      const { types, mostAtOnce } = this.options.store;
      const page = await this.options.log.readAll({
        after: this.reached,
        limit: Math.min(PAGE, mostAtOnce),
        filter: { types },
      });
      const events = page.events.filter((event) => event.position <= position);
      const last = page.end || events.length < page.events.length || page.next === null || page.next >= position;
      await this.handle(events, last ? position : (page.next as Position));
    }
    this.options.onAdvance(this.reached);
  }
}
