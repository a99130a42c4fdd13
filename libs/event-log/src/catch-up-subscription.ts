import { setImmediate as nextTurn } from 'node:timers/promises';
import { inReadScope, type Position } from '@app/kernel/threads';
import { WakeSignal } from './wake-signal';
import { type LogPage, type ReadAllOptions, type SubscribeOptions, type Subscription, wantsNone } from './event-log';

/** Everything that was appended between two positions. */
export interface AppendedRound {
  /** Exclusive. */
  readonly after: Position;
  readonly upTo: Position;
  /** Types of the events; it may name more. */
  readonly types: ReadonlySet<string>;
}

/** What a subscription needs from an adapter. */
export interface LogFeed {
  /**
   * A page in memory costs no turn of the event loop. `isWoken`: the subscriber waited at the head and was woken, so a page
   * that was read for all waiting subscribers will do. Otherwise the page must show everything appended before this call.
   */
  readAll(options: ReadAllOptions, isWoken: boolean): LogPage | Promise<LogPage>;
  /**
   * Calls `onAppended` after appends, with the appended events if they are known; an extra call does no harm. Calls
   * `onLost` when it stops listening. Returns a function that stops it.
   */
  listen(onAppended: (round?: AppendedRound) => void, onLost: (error: unknown) => void): () => void;
  /** Of a log that may be found to be another while it is followed. */
  readonly restored?: {
    /** Another number each time it was. */
    readonly timeline: number;
    /** The end of the log when it was last found to be replaced. */
    end(): Promise<Position | null>;
  };
}

/** Times in milliseconds. */
export interface FollowTimes {
  /** Pause after the first failure. It doubles with each further one, with jitter. */
  readonly firstRetry: number;
  readonly longestRetry: number;
  /** After this much silence the log is read and the listener replaced. Undefined if the adapter does that itself. */
  readonly silence: number | undefined;
  /** A read that takes this long counts as failed. */
  readonly read: number;
}

export const FOLLOW_TIMES = {
  firstRetry: 50,
  longestRetry: 5_000,
  silence: 15_000,
  read: 30_000,
} satisfies FollowTimes;

/**
 * Follows a log until stopped: reads pages while it is behind, and listens only at the head. A failed read, handler or
 * listener is reported and retried from the last handled position.
 */
export const follow = (feed: LogFeed, options: SubscribeOptions, times: FollowTimes = FOLLOW_TIMES): Subscription =>
  new Following(feed, options, times);

class Following implements Subscription {
  position: Position | null;
  caughtUp = false;
  private readonly done: Promise<void>;
  private readonly signal = new WakeSignal();
  private stopListening: (() => void) | undefined;
  private isStopped = false;
  private isWoken = false;
  /** It waits at the end of the log. */
  private isWaiting = false;
  private timeline: number | undefined;

  constructor(
    private readonly feed: LogFeed,
    private readonly options: SubscribeOptions,
    private readonly times: FollowTimes,
  ) {
    this.position = options.after;
    this.timeline = feed.restored?.timeline;
    this.done = this.run();
  }

  stop(): Promise<void> {
    this.isStopped = true;
    this.signal.wake();
    return this.done;
  }

  private async run(): Promise<void> {
    for (let failures = 0; !this.isStopped;) {
      try {
        if (await this.handlePage()) await this.rest();
        else await this.readOn();
        failures = 0;
      } catch (error) {
        failures += 1;
        this.caughtUp = false;
        this.options.onError?.(error, failures);
        await this.recover(failures);
      }
    }
    this.unlisten();
    this.signal.end();
  }

  /** Reads and handles one page; true at the end of the log. */
  private async handlePage(): Promise<boolean> {
    const { filter, withForeign, pageSize: limit, onEvents } = this.options;
    this.signal.reset();
    await this.beginAnew();
    const { isWoken } = this;
    this.isWoken = false;
    const read = this.feed.readAll(
      {
        after: this.position,
        ...(filter && { filter }),
        ...(withForeign && { withForeign }),
        ...(limit !== undefined && { limit }),
      },
      isWoken,
    );
    const page = read instanceof Promise ? await within(this.times.read, read) : read;
    if (this.isStopped || this.isOfAnother) return false;
    if (page.next !== null && page.next !== this.position) {
      this.caughtUp = false;
      const { events, next } = page;
      await inReadScope(() => onEvents(events, next, page));
      this.position = next;
    }
    return page.end;
  }

  private get isOfAnother(): boolean {
    return this.options.onRestored !== undefined && this.feed.restored?.timeline !== this.timeline;
  }

  private async beginAnew(): Promise<void> {
    const { restored } = this.feed;
    if (restored === undefined || !this.isOfAnother) return;
    const end = await restored.end();
    const { timeline } = restored;
    await this.options.onRestored?.(end);
    this.position = end;
    this.timeline = timeline;
  }

  /** At the head: starts to listen, reads once more for what came in between, reports the end, and waits. */
  private async rest(): Promise<void> {
    if (this.stopListening === undefined) return this.listen();
    if (!this.caughtUp) {
      this.caughtUp = true;
      await this.options.onCaughtUp?.(this.position);
    }
    if (this.isStopped) return;
    const isWaiting = !this.signal.isWoken;
    this.isWaiting = isWaiting;
    try {
      const isHeard = await this.signal.wait(this.times.silence);
      this.isWoken = isWaiting && isHeard;
      if (!isHeard) this.unlisten();
    } finally {
      this.isWaiting = false;
    }
  }

  private listen(): void {
    this.stopListening = this.feed.listen(
      (round) => {
        if (round === undefined || !this.passes(round)) this.signal.wake();
      },
      (error) => this.signal.break(error),
    );
  }

  /**
   * Skips events of other types while it waits. Most events concern few followers; the others need no turn for them.
   */
  private passes({ after, upTo, types }: AppendedRound): boolean {
    const { filter, onPassed } = this.options;
    if (!this.isWaiting || this.signal.isWoken || this.isStopped) return false;
    if (this.position === null || this.position < after) return false;
    if (this.position >= upTo) return true;
    if (!wantsNone(filter, types) || onPassed?.(upTo) !== true) return false;
    this.position = upTo;
    return true;
  }

  private unlisten(): void {
    this.stopListening?.();
    this.stopListening = undefined;
  }

  /** Behind: reads on without a listener, which would be too slow. */
  private async readOn(): Promise<void> {
    this.unlisten();
    await nextTurn();
  }

  private async recover(failures: number): Promise<void> {
    this.unlisten();
    this.signal.reset();
    if (!this.isStopped) await this.signal.wait(pause(failures, this.times));
  }
}

/** Doubles with each failure, with jitter between half and all of it, so that many subscribers do not return at once. */
const pause = (failures: number, { firstRetry, longestRetry }: FollowTimes): number =>
  Math.min(firstRetry * 2 ** (failures - 1), longestRetry) * (0.5 + Math.random() / 2);

const within = async <T>(milliseconds: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer from the log for ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};
