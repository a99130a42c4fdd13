import type { ExpectedRevision, Position, StoredEvent, StreamLog } from '@app/kernel';

/** Injection token of the `EventLog` port. */
export const EVENT_LOG = Symbol('EventLog');

/** The port of the log. One contract suite (`event-log.contract.ts`) runs against every adapter. */
export interface EventLog extends StreamLog {
  /** Other programs may write to it, too: pages may pass over what they wrote. */
  readonly isShared?: boolean | undefined;
  /** Appends that may be under way at once and are stored in the order in which they were made, whatever fails; who needs an order stops at one that failed. */
  readonly mostInOrder: number;
  /** A page of the whole log in order. */
  readAll(options?: ReadAllOptions): Promise<LogPage>;
  /** Position of the last event, null for an empty log. */
  head(): Promise<Position | null>;
  /** As `head`, as this process last heard of it, some seconds ago at most; undefined where it has not. Asks nothing. */
  lastHead?(): Position | null | undefined;
  /** Follows the log from a position, for ever, until stopped. */
  subscribe(options: SubscribeOptions): Subscription;
  /** Somebody waits for what subscriptions make of the event at a position: a log that gathers events for its subscribers hands them over now. */
  hurry?(position: Position): void;
  /** Removes the events of a stream before a revision; they leave no trace in reads. */
  truncate(stream: string, beforeRevision: number): Promise<void>;
  /** Removes all events of a stream. A later append goes on at the next revision. */
  delete(stream: string, expected: ExpectedRevision): Promise<void>;
  health(): Promise<LogHealth>;
  close(): Promise<void>;
}

/** The reading half, for those who only look: rebuilds, backups, verification, other threads and processes. */
export type LogReader = Pick<EventLog, 'readStream' | 'readAll' | 'head' | 'close' | 'isShared'> & {
  /** What was found at opening and does not stand in the way of reading: a tail that was cut off, with what had been acknowledged of it. */
  readonly notice?: string | undefined;
  /** What is wrong with the log as a whole, where it was opened all the same: its events are read as they stand, its streams are not. */
  readonly unsound?: LogCorrupted | undefined;
};

/** Most bytes (UTF-8) of one event's type, data and metadata in the embedded log; more is refused with `DomainError` `too_large`. */
export const MAX_EVENT_BYTES = 1024 * 1024;
/** Most bytes of one append to it, which is one message and one commit; more is refused with `DomainError` `too_large`. */
export const MAX_APPEND_BYTES = 8 * 1024 * 1024;

export interface EventFilter {
  /** Only events of these types. */
  readonly types?: readonly string[];
  /** Only events of streams whose name begins with one of these, such as `agent-`. */
  readonly streamPrefixes?: readonly string[];
}

export interface ReadAllOptions {
  readonly direction?: 'forwards' | 'backwards';
  /** Exclusive in both directions; null or absent: from the start (forwards) or from the end (backwards). */
  readonly after?: Position | null;
  /** At most this many events in the page; 500 by default. */
  readonly limit?: number;
  readonly filter?: EventFilter;
  /** Hands over what others wrote, too. */
  readonly withForeign?: boolean;
}

/** What tells our events from those of other programs, on a server that others write too. */
export interface OurEvents {
  /** What the names of our streams begin with; absent where any may be ours. */
  readonly streamPrefixes?: readonly string[] | undefined;
  /** Whether a stream has a name as ours have. */
  isOurStream(stream: string): boolean;
  isOurs(event: Pick<StoredEvent, 'stream' | 'metadata'>): boolean;
}

/** An event that another program wrote. Its bytes may be anything; what of them is no UTF-8 is replaced. */
export interface ForeignEvent extends StoredEvent {
  /** When the server took it, ISO 8601 UTC. */
  readonly at: string;
  /** Its stream has a name as ours have. */
  readonly isNamedAsOurs: boolean;
}

export interface LogPage {
  readonly events: readonly StoredEvent[];
  /** What others wrote up to `next`, in order, where it was asked for and there is some. */
  readonly foreign?: readonly ForeignEvent[];
  /** Nothing of ours lies up to `next`, whatever the filter: others wrote all of it. */
  readonly isForeign?: boolean;
  /** Where to go on: at or past the last event of the page, since filtered events are passed over. Null only when nothing was read. */
  readonly next: Position | null;
  /** True when there was nothing more at the time of reading. */
  readonly end: boolean;
}

export interface SubscribeOptions {
  /** For logs and metrics. */
  readonly name: string;
  /** Exclusive; null: from the start. */
  readonly after: Position | null;
  readonly filter?: EventFilter;
  /** Hands over what others wrote, too. */
  readonly withForeign?: boolean;
  /** Most events handed over at once; 500 by default. */
  readonly pageSize?: number;
  /**
   * Handles events in order; the next page comes after it resolves. `upTo` is where the subscription stands then: at or
   * past the last event, also when `events` is empty because all were filtered out. `page` is where they are from. When it
   * rejects, the subscription goes back to the last position handled and tries again with backoff.
   */
  readonly onEvents: (events: readonly StoredEvent[], upTo: Position, page?: LogPage) => Promise<void>;
  /** Said each time the end of the log is reached, only after the event before it was handled. */
  readonly onCaughtUp?: (position: Position | null) => Promise<void> | void;
  /** A failed read or handler; the subscription goes on by itself. */
  readonly onError?: (error: unknown, attempt: number) => void;
}

export interface Subscription {
  /** Last position handled. */
  readonly position: Position | null;
  readonly caughtUp: boolean;
  /** Resolves when the page in hand is handled. */
  stop(): Promise<void>;
}

export interface LogHealth {
  readonly writable: boolean;
  readonly readable: boolean;
  /** It is there and has not answered yet: who asks it waits for a while. */
  readonly slow?: true;
  /** Why not, in one sentence without secrets. */
  readonly reason?: string;
}

/** What was read is not what was written: never served, never skipped. */
export class LogCorrupted extends Error {
  override readonly name = 'LogCorrupted';

  constructor(
    readonly place: string,
    readonly detail: string,
  ) {
    super(`the log is damaged at ${place}: ${detail}`);
  }
}

/** An append that no log can hold, whoever asks: no events, an id that is no UUID, an empty name. A fault of the program. */
export class InvalidAppend extends Error {
  override readonly name = 'InvalidAppend';
}

/** Part of an append stands in the stream already and part does not: neither a repeat nor something new. */
export class MixedRepeat extends Error {
  override readonly name = 'MixedRepeat';

  constructor(readonly stream: string) {
    super(`an append to ${stream} repeats some events that stand there and adds others`);
  }
}
