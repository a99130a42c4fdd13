import type { Uuid } from './ids';

/** A place in the log: opaque text that sorts in log order. Do not calculate with it (architecture, The log port). */
export type Position = string;

/** The revision that an append expects the stream to have: the number of its last event, from 0. */
export type ExpectedRevision = 'any' | 'noStream' | 'streamExists' | number;

/** An event to append. `data` and `metadata` are JSON text: the bytes that are stored and sealed. */
export interface NewEvent {
  readonly id: Uuid;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

/** An event as the log holds it. */
export interface StoredEvent extends NewEvent {
  readonly stream: string;
  readonly revision: number;
  readonly position: Position;
}

/** Where an append ended. */
export interface AppendResult {
  /** Position of the last event appended. */
  readonly position: Position;
  /** Revision of the last event appended. */
  readonly revision: number;
}

/** How the streams of the log are read. */
export interface StreamReader {
  /** Events of one stream from a revision on (inclusive), oldest first; an unknown stream is empty. */
  readStream(stream: string, options?: ReadStreamOptions): Promise<readonly StoredEvent[]>;
  /**
   * No event of the stream stands beyond this revision, -1 for none at all; undefined where that is not known at once. On a log
   * that others write too it is known only where an answer of the log serves the work that runs (`inReadScope`).
   */
  endOf?(stream: string): number | undefined;
  /** Of a log that others write too. */
  readonly readIndex?: ReadIndex;
}

/** The part of the log that decisions need; `EventLog` in libs/event-log is the whole port. Who may append is said by `Decisions`. */
export interface StreamLog extends StreamReader {
  /** Appends all events or none. Throws `WrongExpectedRevision`, or `Unavailable` with its outcome. */
  append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult>;
}

/**
 * How a log that others write too is read without a read of each stream, as Raft serves reads (Ongaro's dissertation, 6.4): the log
 * is asked once how far it is, which one answer says for all streams, and what is remembered is served from there on.
 */
export interface ReadIndex {
  /** True where no event of the stream stands beyond a revision now; false leaves it open. Asks the log where that may save a read. Throws `Unavailable`. */
  confirm(stream: string, revision: number): Promise<boolean>;
  /** What `endOf` said when the log was last asked, and when that was, by this process's steady clock, milliseconds. */
  lastEndOf(stream: string): { readonly revision: number; readonly askedAt: number } | undefined;
  /** Another number once the log was found to end before what was read of it, as one that was restored from a backup: what was folded of it is of no use then. */
  readonly timeline: number;
}

/** How the events of one stream are read. */
export interface ReadStreamOptions {
  /** First revision to read, inclusive. Forwards: 0 by default; backwards: the last one by default. */
  readonly from?: number;
  readonly direction?: 'forwards' | 'backwards';
  /** At most this many events; all by default. */
  readonly limit?: number;
}

/** The stream has another revision than the append expected: another writer was faster. */
export class WrongExpectedRevision extends Error {
  override readonly name = 'WrongExpectedRevision';

  constructor(
    readonly stream: string,
    readonly expected: ExpectedRevision,
    /** The stream's revision when rejected, -1 for a stream without events. */
    readonly actual: number,
  ) {
    super(`stream ${stream} is at revision ${actual}, not ${expected}`);
  }
}

/** True for a `WrongExpectedRevision`, by its name. */
export const isWrongExpectedRevision = (error: unknown): error is WrongExpectedRevision =>
  error instanceof Error && error.name === 'WrongExpectedRevision';

/** True if the last event of a stream is the deletion of its aggregate. */
export const isDeleted = async (log: StreamReader, stream: string, type: string): Promise<boolean> =>
  (await log.readStream(stream, { direction: 'backwards', limit: 1 }))[0]?.type === type;
