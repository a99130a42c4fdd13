import type { Database, Statement } from 'better-sqlite3';
import { LogCorrupted } from '../event-log';
import { COLUMNS, type EventRow, verify } from './event-row';
import { positionText } from './positions';

type Rows = Statement<[number, number], EventRow>;

/** Reads the rows of the log by position. Verifies each row, and that none is missing. */
export class EventTable {
  private readonly upwards: Rows;
  private readonly downwards: Rows;
  private readonly last: Statement<[], number | null>;

  constructor(database: Database) {
    const rows = (sql: string): Rows =>
      database.prepare<[number, number], EventRow>(`SELECT ${COLUMNS} FROM events ${sql}`).raw();
    this.upwards = rows('WHERE position > ? AND position <= ? ORDER BY position');
    this.downwards = rows('WHERE position < ? AND position >= ? ORDER BY position DESC');
    this.last = database.prepare<[], number | null>('SELECT max(position) FROM events').pluck();
  }

  /** Position of the last row; 0 if there is none. */
  lastPosition(): number {
    return this.last.get() ?? 0;
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
}

const ROWS_AT_ONCE = 500;

/** Reads the rows after a position up to another, in batches. */
export function* rowsAfter(table: EventTable, position: number, upTo: number): Generator<EventRow> {
  for (let at = position; at < upTo; at += ROWS_AT_ONCE) yield* table.after(at, Math.min(upTo, at + ROWS_AT_ONCE));
}

const verifyAt = (row: EventRow, position: number): void => {
  if (row[0] !== position) throw missing(position);
  verify(row);
};

const missing = (position: number): LogCorrupted =>
  new LogCorrupted(`position ${positionText(position)}`, 'an event is missing');
