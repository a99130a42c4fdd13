import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Position, type ReadStreamOptions, type StoredEvent, Unavailable } from '@app/kernel';
import type { LogPage, LogReader, ReadAllOptions } from '../event-log';
import { eventMatcher } from '../event-matcher';
import { type EventRow, isRemoved, storedEvent } from './event-row';
import type { EventTable } from './event-table';
import { positionNumber, positionText } from './positions';
import { damageOf, LOG_DEPENDENCY, reasonOf, sqliteCode } from './sqlite-errors';

/** Rows that are fetched at once: the event loop waits for no more than these and the time below. */
const ROWS_AT_ONCE = 100;
/** Milliseconds after which a page ends, or a longer read lets others run. */
const TURN_MS = 8;
export const DEFAULT_PAGE = 500;

/** Reads the log on a connection of the caller's thread, up to the position that `bound` says at the time. */
export class SqliteLogReader implements LogReader {
  private isClosed = false;

  constructor(
    private readonly table: EventTable,
    private readonly bound: () => number,
    private readonly onClose: () => void,
  ) {}

  async head(): Promise<Position | null> {
    const last = this.sound(this.bound);
    return last === 0 ? null : positionText(last);
  }

  async readAll(options: ReadAllOptions = {}): Promise<LogPage> {
    return this.sound(() => (options.direction === 'backwards' ? this.pageBefore(options) : this.pageAfter(options)));
  }

  async readStream(stream: string, { direction = 'forwards', from, limit = Infinity }: ReadStreamOptions = {}): Promise<readonly StoredEvent[]> {
    const step = direction === 'forwards' ? 1 : -1;
    const upTo = this.sound(this.bound);
    const events: StoredEvent[] = [];
    let revision = from ?? (step > 0 ? 0 : Number.MAX_SAFE_INTEGER - 1);
    let turnEnds = performance.now() + TURN_MS;
    while (revision >= 0 && events.length < limit) {
      const at = revision;
      const most = Math.min(ROWS_AT_ONCE, limit - events.length);
      const rows = this.sound(() => (step > 0 ? this.table.streamFrom(stream, at, most) : this.table.streamBack(stream, at, most)));
      for (const row of rows) if (row[0] <= upTo && !isRemoved(row)) events.push(storedEvent(row));
      const last = rows.at(-1);
      if (last === undefined || rows.length < most) return events;
      revision = last[2] + step;
      if (isRemoved(last)) {
        if (step < 0) return events;
        revision = this.sound(() => this.table.firstKept(stream));
      }
      if (performance.now() < turnEnds) continue;
      await nextTurn();
      turnEnds = performance.now() + TURN_MS;
    }
    return events;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.onClose();
  }

  private sound<T>(read: () => T): T {
    if (this.isClosed) throw new Unavailable(LOG_DEPENDENCY, 'it is closed');
    try {
      return read();
    } catch (error) {
      if (sqliteCode(error) === undefined) throw error;
      throw damageOf(error) ?? new Unavailable(LOG_DEPENDENCY, reasonOf(error), 'none', { cause: error });
    }
  }

  private pageAfter({ after = null, limit = DEFAULT_PAGE, filter }: ReadAllOptions): LogPage {
    const upTo = this.bound();
    return page(limit, filter, after === null ? 0 : positionNumber(after), {
      isEnd: (at) => at >= upTo,
      rows: (at, most) => this.table.after(at, Math.min(upTo, at + most)),
      next: (at) => (at === 0 ? null : positionText(at)),
    });
  }

  private pageBefore({ after = null, limit = DEFAULT_PAGE, filter }: ReadAllOptions): LogPage {
    const start = this.bound() + 1;
    return page(limit, filter, after === null ? start : Math.min(start, positionNumber(after)), {
      isEnd: (at) => at <= 1,
      rows: (at, most) => this.table.before(at, Math.max(1, at - most)),
      next: (at) => (at === start ? after : positionText(at)),
    });
  }
}

interface Walk {
  readonly isEnd: (at: number) => boolean;
  readonly rows: (at: number, most: number) => readonly EventRow[];
  readonly next: (at: number) => Position | null;
}

/** Walks until the page is full, the time is up or the log ends. */
const page = (limit: number, filter: ReadAllOptions['filter'], start: number, walk: Walk): LogPage => {
  const matches = eventMatcher(filter);
  const turnEnds = performance.now() + TURN_MS;
  const events: StoredEvent[] = [];
  let at = start;
  while (!walk.isEnd(at) && events.length < limit) {
    for (const row of walk.rows(at, filter === undefined ? Math.min(ROWS_AT_ONCE, limit - events.length) : ROWS_AT_ONCE)) {
      at = row[0];
      if (!isRemoved(row) && matches(row[4], row[1])) events.push(storedEvent(row));
      if (events.length >= limit) break;
    }
    if (performance.now() >= turnEnds) break;
  }
  return { events, next: walk.next(at), end: walk.isEnd(at) };
};
