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
   * The last revision of the stream, -1 for none; undefined if it is not known at once. On a log with other writers, it
   * is known only if an answer of the log serves the running work (`inReadScope`).
   */
  endOf?(stream: string): number | undefined;
  /** Of a log that others write too. */
  readonly readIndex?: ReadIndex;
}

/**
 * The part of the log that decisions need; `EventLog` in libs/event-log is the whole port. `Decisions` says who may
 * append.
 */
export interface StreamLog extends StreamReader {
  /** Appends all events or none. Throws `WrongExpectedRevision`, or `Unavailable` with its outcome. */
  append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult>;
}

/**
 * Reads a log with other writers without a read per stream, as Raft serves reads (Ongaro's dissertation, 6.4): one
 * question tells how far the log is, for all streams, and remembered state is used up to there.
 */
export interface ReadIndex {
  /**
   * True if the stream has no event after a revision now; false if that is unknown. Asks the log if that may save a
   * read. Throws `Unavailable`.
   */
  confirm(stream: string, revision: number): Promise<boolean>;
  /**
   * The result of `endOf` at the last question to the log, and the time of that question by this process's monotonic
   * clock, milliseconds.
   */
  lastEndOf(stream: string): { readonly revision: number; readonly askedAt: number } | undefined;
  /**
   * Changes when the log turns out to end before events that were read of it, such as after a restore from a backup:
   * states that were folded from it are then invalid.
   */
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
