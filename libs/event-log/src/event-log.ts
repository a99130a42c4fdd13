import type { ExpectedRevision, Position, StoredEvent, StreamLog } from '@app/kernel';

/** Injection token of the `EventLog` port. */
export const EVENT_LOG = Symbol('EventLog');

/** The port of the log. One contract suite (`event-log.contract.ts`) runs against every adapter. */
export interface EventLog extends StreamLog {
  /** Other programs may write to it too. Pages may skip what they wrote. */
  readonly isShared?: boolean | undefined;
  /**
   * The number of concurrent appends that are stored in the order of their calls, whatever fails. A writer that needs
   * an order stops after a failed append.
   */
  readonly mostInOrder: number;
  /** A page of the whole log in order. */
  readAll(options?: ReadAllOptions): Promise<LogPage>;
  /**
   * The event at a position; `removed` if it was removed and its place is still known; undefined if there is no event
   * of ours (after a scavenge of the server, it may also have been removed). Throws `RangeError` for text that is not a
   * position of this log; a server may also throw it for a place inside of an event.
   */
  eventAt(position: Position): Promise<StoredEvent | 'removed' | undefined>;
  /** Position of the last event, null for an empty log. */
  head(): Promise<Position | null>;
  /** As `head`, from memory: what this process heard some seconds ago at most; undefined if nothing. Sends no request. */
  lastHead?(): Position | null | undefined;
  /** Follows the log from a position until stopped. */
  subscribe(options: SubscribeOptions): Subscription;
  /** A caller waits for subscribers to handle the event at a position. A log that gathers events for them delivers now. */
  deliverNow?(position: Position): void;
  /** Removes the events of a stream before a revision. Reads no longer show them. */
  truncate(stream: string, beforeRevision: number): Promise<void>;
  /** Removes all events of a stream. A later append continues at the next revision. */
  delete(stream: string, expected: ExpectedRevision): Promise<void>;
  health(): Promise<LogHealth>;
  /** Says to every process that an import into the log was broken off. Absent where opening the log says so. */
  readonly importMark?: ImportMark;
  close(): Promise<void>;
}

/** There from before the first event of an import to its end. Throws `Unavailable`. */
export interface ImportMark {
  isSet(): Promise<boolean>;
  set(isUnfinished: boolean): Promise<void>;
}

/** The reading half, for rebuilds, backups, verification, and other threads and processes. */
export type LogReader = Pick<EventLog, 'readStream' | 'readAll' | 'head' | 'close' | 'isShared'> & {
  /** A notice from opening that does not prevent reading: a tail was cut off, including acknowledged events. */
  readonly notice?: string | undefined;
  /** The damage of the log, if it was opened anyway: its events can be read, its streams cannot. */
  readonly unsound?: LogCorrupted | undefined;
};

/** Most bytes (UTF-8) of one event's type, data and metadata in the embedded log. More throws `DomainError` `too_large`. */
export const MAX_EVENT_BYTES = 1024 * 1024;
/** Most bytes of one append to it, which is one message and one commit. More throws `DomainError` `too_large`. */
export const MAX_APPEND_BYTES = 8 * 1024 * 1024;

/** Which events are read. Each given filter narrows. */
export interface EventFilter {
  /** Only events of these types. */
  readonly types?: readonly string[];
  /** Only events of streams whose name begins with one of these, such as `agent-`. */
  readonly streamPrefixes?: readonly string[];
}

/** How a page of the whole log is read. */
export interface ReadAllOptions {
  readonly direction?: 'forwards' | 'backwards';
  /** Exclusive in both directions; null or absent: from the start (forwards) or from the end (backwards). */
  readonly after?: Position | null;
  /** At most this many events in the page; 500 by default. */
  readonly limit?: number;
  readonly filter?: EventFilter;
  /** Includes what others wrote. */
  readonly withForeign?: boolean;
}

/** Tells our events from those of other programs on the same server. */
export interface OurEvents {
  /** Prefixes of our streams' names; absent if any stream may be ours. */
  readonly streamPrefixes?: readonly string[] | undefined;
  /** Whether a stream is named as ours are. */
  isOurStream(stream: string): boolean;
  isOurs(event: Pick<StoredEvent, 'stream' | 'metadata'>): boolean;
}

/** An event that another program wrote. Its bytes may be anything; invalid UTF-8 is replaced. */
export interface ForeignEvent extends StoredEvent {
  /** When the server took it, ISO 8601 UTC. */
  readonly at: string;
  /** Its stream is named as ours are. */
  readonly isNamedAsOurs: boolean;
}

/** A page of the log. */
export interface LogPage {
  readonly events: readonly StoredEvent[];
  /** What others wrote up to `next`, in order, if requested and there is any. */
  readonly foreign?: readonly ForeignEvent[];
  /** Others wrote everything up to `next`, whatever the filter. */
  readonly isForeign?: boolean;
  /** Where to continue: at or past the last event of the page, since filtered events are skipped. Null only if nothing was read. */
  readonly next: Position | null;
  /** True if there was nothing more at the time of reading. */
  readonly end: boolean;
}

/** How the log is followed. */
export interface SubscribeOptions {
  /** For logs and metrics. */
  readonly name: string;
  /** Exclusive; null: from the start. */
  readonly after: Position | null;
  readonly filter?: EventFilter;
  /** Includes what others wrote. */
  readonly withForeign?: boolean;
  /** Most events delivered at once; 500 by default. */
  readonly pageSize?: number;
  /**
   * Handles events in order. The next page comes after it resolves. `upTo` is the position of the subscription then: at or
   * past the last event, also if `events` is empty because all were filtered out. `page` is where they are from. If it
   * rejects, the subscription returns to the last handled position and retries with backoff.
   */
  readonly onEvents: (events: readonly StoredEvent[], upTo: Position, page?: LogPage) => Promise<void>;
  /**
   * Called instead of `onEvents` at the end of the log, if the log knows without reading that no event up to `upTo` has
   * a type of the filter. It costs no turn of the subscription, and `onCaughtUp` does not follow. Returns whether the
   * subscription is now at `upTo`; if not, `onEvents` is called. Must not throw. Only with types in the filter.
   */
  readonly onPassed?: (upTo: Position) => boolean;
  /** Called each time the end of the log is reached, after the event before it was handled. */
  readonly onCaughtUp?: (position: Position | null) => Promise<void> | void;
  /**
   * The log was restored from an older backup: handled events may be lost, and others may have continued with other
   * events. Once this resolves, the subscription continues after `end`, where the log ended when this was noticed;
   * without `end`, from its previous place. For followers in memory: followers with a place in the log are restarted
   * from it.
   */
  readonly onRestored?: (end: Position | null) => Promise<void> | void;
  /** A read or handler failed. The subscription continues by itself. */
  readonly onError?: (error: unknown, attempt: number) => void;
}

/** Follows the log until it is stopped. */
export interface Subscription {
  /** Last position handled. */
  readonly position: Position | null;
  readonly caughtUp: boolean;
  /** Resolves once the present page is handled. */
  stop(): Promise<void>;
}

/** How the log is doing. */
export interface LogHealth {
  readonly writable: boolean;
  readonly readable: boolean;
  /** Connected, but no answer yet: callers wait for a while. */
  readonly slow?: true;
  /** Why not, in one sentence without secrets. */
  readonly reason?: string;
}

/** Stored data is not what was written. It is never served and never skipped. */
export class LogCorrupted extends Error {
  override readonly name = 'LogCorrupted';

  constructor(
    readonly place: string,
    readonly detail: string,
  ) {
    super(`the log is damaged at ${place}: ${detail}`);
  }
}

/**
 * A restore or an import into the log was interrupted. Continuing on such a log would hide that, and block the next
 * attempt.
 */
export class LogUnfinished extends Error {
  override readonly name = 'LogUnfinished';

  constructor(work: 'a restore' | 'an import', place: string, remedy: string) {
    super(`${work} into ${place} did not end: run it again. To start from scratch, ${remedy}`);
  }
}

/** An append that no log accepts: no events, an id that is no UUID, an empty name. A fault of the program. */
export class InvalidAppend extends Error {
  override readonly name = 'InvalidAppend';
}

/** Some events of an append are in the stream already and some are not: neither a repeat nor a new append. */
export class MixedRepeat extends Error {
  override readonly name = 'MixedRepeat';

  constructor(readonly stream: string) {
    super(`an append to ${stream} repeats some events of the stream and adds others`);
  }
}

/** Everything in a page that was read forwards, in the order of the log. */
export function* inLogOrder({
  events,
  foreign = [],
}: Pick<LogPage, 'events' | 'foreign'>): Generator<StoredEvent | ForeignEvent> {
  let next = 0;
  for (const theirs of foreign) {
    for (let ours = events[next]; ours !== undefined && ours.position < theirs.position; ours = events[next]) {
      yield ours;
      next += 1;
    }
    yield theirs;
  }
  yield* events.slice(next);
}

/** Whether an event of a page with foreign ones is of another program. */
export const isForeignEvent = (event: StoredEvent | ForeignEvent): event is ForeignEvent => 'isNamedAsOurs' in event;

/** Whether an event of a type in a stream passes a filter: any of the types, and any of the prefixes. */
export const eventMatcher = (filter: EventFilter | undefined): ((type: string, stream: string) => boolean) => {
  const types = filter?.types && asSet(filter.types);
  const prefixes = filter?.streamPrefixes;
  if (types === undefined && prefixes === undefined) return () => true;
  return (type, stream) =>
    (types?.has(type) ?? true) && (prefixes?.some((prefix) => stream.startsWith(prefix)) ?? true);
};

/** True if a filter names types, and none of these is among them. */
export const wantsNone = (filter: EventFilter | undefined, types: ReadonlySet<string>): boolean => {
  if (filter?.types === undefined) return false;
  const wanted = asSet(filter.types);
  for (const type of types) if (wanted.has(type)) return false;
  return true;
};

/** A subscriber uses the same list for every page, and some lists name most types. */
const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

const asSet = (types: readonly string[]): ReadonlySet<string> => {
  const known = sets.get(types) ?? new Set(types);
  sets.set(types, known);
  return known;
};

/** One event is asked for; where others write to the server too, theirs may lie before it. */
const FIRST_LOOK = 1;
const NEXT_LOOK = 500;

/** The last event before a position, looked for in at most so many pages; undefined when there is none. */
export const lastBefore = async (
  log: Pick<EventLog, 'readAll'>,
  position: Position,
  pages = Infinity,
): Promise<StoredEvent | undefined> => {
  let after: Position | null = position;
  for (let read = 0, limit = FIRST_LOOK; read < pages; read += 1, limit = NEXT_LOOK) {
    const page = await log.readAll({ direction: 'backwards', after, limit });
    if (page.events[0] !== undefined || page.end) return page.events[0];
    after = page.next;
  }
  return undefined;
};
