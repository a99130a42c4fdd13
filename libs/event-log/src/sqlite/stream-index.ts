import type { Database, Statement } from 'better-sqlite3';
import { LogCorrupted } from '../event-log';
import { type EventRow, isRemoved, REMOVED, verify } from './event-row';

/** An entry's own key, and behind it the row that it names, which is all null where there is none. */
type PlacedRow = readonly [stream: string, revision: number, ...row: EventRow | NoRow];
type NoRow = readonly null[];
type Placed = Statement<(string | number)[], PlacedRow>;

/** A parameter for which SQLite does not plan the statement anew with each value: that takes longer than running it. */
const VALUE = 'likely(?)';

const PLACED = `SELECT p.stream, p.revision, e.position, e.stream, e.revision, e.id, e.type, e.data, e.metadata, e.checksum
  FROM places p LEFT JOIN events e ON e.position = p.position`;

/**
 * The events of a stream, found through the index, as far as that goes. Rows are verified and their revisions have no gaps.
 * Where a stream ends in the index its neighbours are verified too: an entry whose key was damaged stands there still,
 * under a name that is not in its row.
 */
export class StreamIndex {
  private readonly upwards: Placed;
  private readonly downwards: Placed;
  private readonly at: Placed;
  private readonly next: Placed;
  private readonly previous: Placed;
  private readonly end: Statement<[string], readonly [revision: number, type: string]>;
  private readonly goesTo: Statement<[], number>;
  private readonly count: Statement<[], number>;
  private readonly stray: Statement<[], readonly [stream: string, revision: number]>;
  private readonly atOneTime: AtOneTime;

  constructor(database: Database) {
    const placed = (sql: string): Placed => database.prepare<(string | number)[], PlacedRow>(`${PLACED} ${sql}`).raw();
    this.upwards = placed(`WHERE p.stream = ${VALUE} AND p.revision >= ${VALUE} ORDER BY p.revision LIMIT ?`);
    this.downwards = placed(`WHERE p.stream = ${VALUE} AND p.revision <= ${VALUE} ORDER BY p.revision DESC LIMIT ?`);
    this.at = placed('WHERE p.stream = ? AND p.revision = ?');
    this.next = placed('WHERE (p.stream, p.revision) > (?, ?) ORDER BY p.stream, p.revision LIMIT 1');
    this.previous = placed('WHERE (p.stream, p.revision) < (?, ?) ORDER BY p.stream DESC, p.revision DESC LIMIT 1');
    const end = `SELECT p.revision, e.type FROM places p JOIN events e ON e.position = p.position WHERE p.stream = ${VALUE} ORDER BY p.revision DESC LIMIT 1`;
    this.end = database.prepare<[string], readonly [number, string]>(end).raw();
    this.goesTo = database.prepare<[], number>('SELECT up_to FROM indexed').pluck();
    this.count = database.prepare<[], number>('SELECT count(*) FROM places').pluck();
    const stray = `SELECT p.stream, p.revision FROM places p LEFT JOIN events e ON e.position = p.position
      WHERE e.stream IS NOT p.stream OR e.revision IS NOT p.revision LIMIT 1`;
    this.stray = database.prepare<[], readonly [string, number]>(stray).raw();
    this.atOneTime = atOneTime(database);
  }

  /** The last indexed position. All before it are indexed too. */
  upTo(): number {
    return this.goesTo.get() ?? 0;
  }

  /** Number of entries; equals `upTo` in a sound log. */
  entries(): number {
    return this.count.get() ?? 0;
  }

  /** An entry that names no event, or one of another place. Reads every entry: for those who look for damage. */
  damage(): LogCorrupted | undefined {
    const [stream, revision] = this.stray.get() ?? [];
    return stream === undefined || revision === undefined ? undefined : wrong(stream, revision);
  }

  /** At most `limit` rows of a stream from a revision on (inclusive), oldest first. */
  from(stream: string, revision: number, limit: number): readonly EventRow[] {
    return this.atOneTime(() => this.rowsFrom(stream, revision, limit));
  }

  /** At most `limit` rows of a stream from a revision on (inclusive), newest first. */
  back(stream: string, revision: number, limit: number): readonly EventRow[] {
    return this.atOneTime(() => this.rowsBack(stream, revision, limit));
  }

  /** The first revision whose event was not removed, one past the end when all were: events are removed from the beginning of a stream. */
  firstKept(stream: string): number {
    return this.atOneTime(() => this.firstKeptOf(stream));
  }

  /**
   * The end of a stream and whether its last event was removed; undefined for a stream that is not in the index. Not
   * verified, because it is used for appends: an appender at a revision has read that event.
   */
  endOf(stream: string): { readonly revision: number; readonly isRemoved: boolean } | undefined {
    const end = this.end.get(stream);
    return end && { revision: end[0], isRemoved: end[1] === REMOVED };
  }

  private rowsFrom(stream: string, revision: number, limit: number): readonly EventRow[] {
    const rows = this.upwards.all(stream, revision, limit).map(verified);
    const before = this.neighbour(this.previous, stream, revision);
    const first = before?.[1] === stream ? before[2] + 1 : 0;
    rows.forEach((row, index) => mustBe(row, first + index));
    if (rows.length > 0 && first !== revision) throw gap(stream, first);
    if (rows.length < limit && this.neighbour(this.next, stream, rows.at(-1)?.[2] ?? revision)?.[1] === stream)
      throw gap(stream, revision);
    return rows;
  }

  private rowsBack(stream: string, revision: number, limit: number): readonly EventRow[] {
    const rows = this.downwards.all(stream, revision, limit).map(verified);
    this.neighbour(this.next, stream, revision);
    const first = rows[0]?.[2] ?? -1;
    rows.forEach((row, index) => mustBe(row, first - index));
    if (rows.length < limit && first !== rows.length - 1) throw gap(stream, first - rows.length);
    return rows;
  }

  private firstKeptOf(stream: string): number {
    let removed = -1;
    let kept = (this.endOf(stream)?.revision ?? -1) + 1;
    while (kept - removed > 1) {
      const middle = Math.floor((removed + kept) / 2);
      const row = this.at.get(stream, middle);
      if (row === undefined) throw gap(stream, middle);
      if (isRemoved(verified(row))) removed = middle;
      else kept = middle;
    }
    return kept;
  }

  /** Reads and verifies the entry next to a place. */
  private neighbour(entry: Placed, stream: string, revision: number): EventRow | undefined {
    const row = entry.get(stream, revision);
    return row && verified(row);
  }
}

/** Throws `LogCorrupted` if an entry names no event, or an event of another place. */
const verified = ([stream, revision, ...row]: PlacedRow): EventRow => {
  if (!isThere(row)) throw gap(stream, revision);
  verify(row);
  if (row[1] !== stream || row[2] !== revision) throw wrong(row[1], row[2]);
  return row;
};

const wrong = (stream: string, revision: number): LogCorrupted =>
  new LogCorrupted('the index of streams', `an entry for ${stream} revision ${revision} is wrong`);

const isThere = (row: EventRow | NoRow): row is EventRow => row[0] !== null;

const mustBe = (row: EventRow, revision: number): void => {
  if (row[2] !== revision) throw gap(row[1], revision);
};

export const gap = (stream: string, revision: number): LogCorrupted =>
  new LogCorrupted(`${stream} revision ${revision}`, 'an event of the stream is missing');

type AtOneTime = <T>(reads: () => T) => T;

/**
 * Runs several reads of a connection on one state of the database. Each statement by itself sees what was committed when it
 * began, so that a commit of the writer between two of them reads as damage. In a transaction of the caller they run as they are.
 */
const atOneTime = (database: Database): AtOneTime => {
  const begin = database.prepare('BEGIN');
  const end = database.prepare('COMMIT');
  return (reads) => {
    if (database.inTransaction) return reads();
    begin.run();
    try {
      return reads();
    } finally {
      end.run();
    }
  };
};
