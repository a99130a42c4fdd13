import type { Database, Statement } from 'better-sqlite3';
import { LogCorrupted } from '../event-log';
import { COLUMNS, type EventRow, isRemoved, REMOVED, verify } from './event-row';
import { positionText } from './positions';

type Rows = Statement<(string | number)[], EventRow>;

/**
 * The rows of the log through one connection. Every row that is read is verified, and so is that none is missing: positions
 * follow each other without gaps, and so do the revisions of a stream. Where a stream ends in the index, the entries next
 * to the end are verified too: an entry whose key was damaged stands there still, under a name that is not in its row.
 */
export class EventTable {
  private readonly upwards: Rows;
  private readonly downwards: Rows;
  private readonly streamUpwards: Rows;
  private readonly streamDownwards: Rows;
  private readonly streamAt: Statement<[string, number], EventRow>;
  private readonly entryAfter: Rows;
  private readonly entryBefore: Rows;
  private readonly streamEnd: Statement<[string], readonly [revision: number, type: string]>;
  private readonly last: Statement<[], number | null>;
  private readonly indexed: Statement<[], number>;

  constructor(database: Database) {
    const rows = (sql: string): Rows => database.prepare<(string | number)[], EventRow>(`SELECT ${COLUMNS} FROM events ${sql}`).raw();
    this.upwards = rows('WHERE position > ? AND position <= ? ORDER BY position');
    this.downwards = rows('WHERE position < ? AND position >= ? ORDER BY position DESC');
    this.streamUpwards = rows('WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?');
    this.streamDownwards = rows('WHERE stream = ? AND revision <= ? ORDER BY revision DESC LIMIT ?');
    this.streamAt = database.prepare<[string, number], EventRow>(`SELECT ${COLUMNS} FROM events WHERE stream = ? AND revision = ?`).raw();
    this.entryAfter = rows('WHERE (stream, revision) > (?, ?) ORDER BY stream, revision LIMIT 1');
    this.entryBefore = rows('WHERE (stream, revision) < (?, ?) ORDER BY stream DESC, revision DESC LIMIT 1');
    this.streamEnd = database.prepare<[string], readonly [number, string]>('SELECT revision, type FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1').raw();
    this.last = database.prepare<[], number | null>('SELECT max(position) FROM events').pluck();
    this.indexed = database.prepare<[], number>('SELECT count(*) FROM events INDEXED BY events_by_stream').pluck();
  }

  /** Position of the last row, 0 for none. */
  lastPosition(): number {
    return this.last.get() ?? 0;
  }

  /** Number of entries in the index of streams: equal to the last position in a sound log. */
  indexedRows(): number {
    return this.indexed.get() ?? 0;
  }

  /** All rows after a position up to another (inclusive), oldest first. */
  after(position: number, upTo: number): readonly EventRow[] {
    const rows = this.upwards.all(position, upTo);
    rows.forEach((row, index) => verifyAt(row, position + 1 + index));
    if (position + rows.length < upTo) throw missing(position + rows.length + 1);
    return rows;
  }

  /** All rows before a position down to another (inclusive), newest first. */
  before(position: number, downTo: number): readonly EventRow[] {
    const rows = this.downwards.all(position, downTo);
    rows.forEach((row, index) => verifyAt(row, position - 1 - index));
    if (position - rows.length > downTo) throw missing(position - rows.length - 1);
    return rows;
  }

  /** At most `limit` rows of a stream from a revision on (inclusive), oldest first. */
  streamFrom(stream: string, revision: number, limit: number): readonly EventRow[] {
    const rows = this.streamUpwards.all(stream, revision, limit);
    const before = this.neighbour(this.entryBefore, stream, revision);
    const first = before?.[1] === stream ? before[2] + 1 : 0;
    rows.forEach((row, index) => verifyRevision(row, first + index));
    if (rows.length > 0 && first !== revision) throw gap(stream, first);
    if (rows.length < limit && this.neighbour(this.entryAfter, stream, rows.at(-1)?.[2] ?? revision)?.[1] === stream) throw gap(stream, revision);
    return rows;
  }

  /** At most `limit` rows of a stream from a revision on (inclusive), newest first. */
  streamBack(stream: string, revision: number, limit: number): readonly EventRow[] {
    const rows = this.streamDownwards.all(stream, revision, limit);
    this.neighbour(this.entryAfter, stream, revision);
    const first = rows[0]?.[2] ?? -1;
    rows.forEach((row, index) => verifyRevision(row, first - index));
    if (rows.length < limit && first !== rows.length - 1) throw gap(stream, first - rows.length);
    return rows;
  }

  /** The first revision whose event was not removed, one past the end when all were: events are removed from the beginning of a stream. */
  firstKept(stream: string): number {
    let removed = -1;
    let kept = (this.endOf(stream)?.revision ?? -1) + 1;
    while (kept - removed > 1) {
      const middle = Math.floor((removed + kept) / 2);
      const row = this.streamAt.get(stream, middle);
      if (row === undefined) throw gap(stream, middle);
      verify(row);
      if (isRemoved(row)) removed = middle;
      else kept = middle;
    }
    return kept;
  }

  /**
   * Where a stream ends and whether its last event was removed; undefined for an unknown stream. Not verified, since it is
   * asked for each append: who appends at a revision has read it, and a new stream takes up a place that must be free.
   */
  endOf(stream: string): { readonly revision: number; readonly isRemoved: boolean } | undefined {
    const end = this.streamEnd.get(stream);
    return end && { revision: end[0], isRemoved: end[1] === REMOVED };
  }

  /** The entry next to a place in the index, verified. */
  private neighbour(entry: Rows, stream: string, revision: number): EventRow | undefined {
    const row = entry.get(stream, revision);
    if (row !== undefined) verify(row);
    return row;
  }
}

const verifyAt = (row: EventRow, position: number): void => {
  if (row[0] !== position) throw missing(position);
  verify(row);
};

const verifyRevision = (row: EventRow, revision: number): void => {
  verify(row);
  if (row[2] !== revision) throw gap(row[1], revision);
};

const missing = (position: number): LogCorrupted => new LogCorrupted(`position ${positionText(position)}`, 'an event is missing');
const gap = (stream: string, revision: number): LogCorrupted => new LogCorrupted(`${stream} revision ${revision}`, 'an event of the stream is missing');
