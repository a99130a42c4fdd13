import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Position, type ReadStreamOptions, type StoredEvent, Unavailable } from '@app/kernel/threads';
import { eventMatcher, type LogCorrupted, type LogPage, type LogReader, type ReadAllOptions } from '../event-log';
import { type EventRow, isRemoved, storedEvent } from './event-row';
import type { EventTable } from './event-table';
import type { PassedEvents } from './passed-events';
import { positionNumber, positionText } from './positions';
import { damageOf, LOG_DEPENDENCY, reasonOf, sqliteCode } from './sqlite-errors';
import { gap, type StreamIndex } from './stream-index';

/** Rows per fetch. The event loop waits for at most these rows and the time below. */
const ROWS_AT_ONCE = 100;
/** After this many milliseconds a page ends, and a longer read yields. */
const TURN_MS = 8;
export const DEFAULT_PAGE = 500;

/** What a reader is over: one connection's tables, and what they do not say. */
export interface ReadableLog {
  readonly table: EventTable;
  readonly index: StreamIndex;
  /** Recently read events; none if removals are not reported. */
  readonly passed?: PassedEvents;
  /** Reads up to this position. */
  head(): number;
  /** The newest events of a stream, oldest first: at least those up to `head` that the index does not know. They may become fewer in the caller's hand at the next turn. */
  newest(stream: string): readonly StoredEvent[];
  close(): void;
}

/** Reads the log on a connection of the caller's thread. */
export class SqliteLogReader implements LogReader {
  private isClosed = false;
  /** The end of the log when a page last reached it. Reads before it need not ask again. */
  private reached = 0;

  constructor(
    private readonly log: ReadableLog,
    readonly notice?: string,
    /** Then streams are not read: their index cannot be trusted. */
    readonly unsound?: LogCorrupted,
  ) {}

  async head(): Promise<Position | null> {
    const last = this.sound(() => this.log.head());
    return last === 0 ? null : positionText(last);
  }

  async readAll(options: ReadAllOptions = {}): Promise<LogPage> {
    return this.sound(() => (options.direction === 'backwards' ? this.pageBefore(options) : this.pageAfter(options)));
  }

  /** As `eventAt` of the log. */
  async eventAt(position: Position): Promise<StoredEvent | 'removed' | undefined> {
    const at = positionNumber(position);
    const [row] = this.sound(() => (at < 1 || at > this.log.head() ? [] : this.log.table.after(at - 1, at)));
    if (row === undefined) return undefined;
    return isRemoved(row) ? 'removed' : storedEvent(row);
  }

  async readStream(
    stream: string,
    { direction = 'forwards', from, limit = Infinity }: ReadStreamOptions = {},
  ): Promise<readonly StoredEvent[]> {
    if (this.unsound !== undefined) throw this.unsound;
    const head = this.sound(() => this.log.head());
    const newest = this.sound(() => this.log.newest(stream));
    const indexEnd = (newest[0]?.revision ?? Infinity) - 1;
    if (direction === 'forwards') {
      // Copied before the index is read: commits meanwhile let go of the oldest of what is in memory.
      const rest = newest.filter(({ revision }) => revision >= (from ?? 0));
      const events =
        (from ?? 0) > indexEnd ? [] : await this.upwards(stream, { from: from ?? 0, to: indexEnd, head, limit });
      return events.concat(rest).slice(0, limit);
    }
    const events = newest.filter(({ revision }) => revision <= (from ?? Infinity)).toReversed();
    const rest = Math.min(from ?? Infinity, indexEnd, Number.MAX_SAFE_INTEGER - 1);
    return events.length >= limit || rest < 0
      ? events.slice(0, limit)
      : events.concat(await this.downwards(stream, rest, head, limit - events.length));
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.log.close();
  }

  /** Events in the index from a revision up to another, which stand there all when the latter is finite. */
  private async upwards(
    stream: string,
    { from, to, head, limit }: { from: number; to: number; head: number; limit: number },
  ): Promise<StoredEvent[]> {
    const events: StoredEvent[] = [];
    const turn = new Turn();
    for (let revision = from; revision <= to && events.length < limit;) {
      const most = Math.min(ROWS_AT_ONCE, limit - events.length);
      const rows = this.sound(() => this.log.index.from(stream, revision, most));
      for (const row of rows) if (row[0] <= head && row[2] <= to && !isRemoved(row)) events.push(storedEvent(row));
      const last = rows.at(-1);
      if (last === undefined || rows.length < most) {
        if (to !== Infinity && (last?.[2] ?? revision - 1) < to) throw gap(stream, (last?.[2] ?? revision - 1) + 1);
        return events;
      }
      revision = isRemoved(last) ? this.sound(() => this.log.index.firstKept(stream)) : last[2] + 1;
      await turn.end();
    }
    return events;
  }

  private async downwards(stream: string, from: number, head: number, limit: number): Promise<StoredEvent[]> {
    const events: StoredEvent[] = [];
    const turn = new Turn();
    for (let revision = from; revision >= 0 && events.length < limit;) {
      const most = Math.min(ROWS_AT_ONCE, limit - events.length);
      const rows = this.sound(() => this.log.index.back(stream, revision, most));
      for (const row of rows) if (row[0] <= head && !isRemoved(row)) events.push(storedEvent(row));
      const last = rows.at(-1);
      if (last === undefined || rows.length < most || isRemoved(last)) return events;
      revision = last[2] - 1;
      await turn.end();
    }
    return events;
  }

  private pageAfter(options: ReadAllOptions): LogPage {
    const { after = null, limit = DEFAULT_PAGE, filter } = options;
    const passed = this.passedPage(options);
    if (passed !== undefined) return passed;
    return page(limit, filter, after === null ? 0 : positionNumber(after), {
      isEnd: (at) => at >= this.reached && at >= (this.reached = this.log.head()),
      rows: (at, most) =>
        this.log.table.after(
          at,
          at + most <= this.reached ? at + most : Math.min((this.reached = this.log.head()), at + most),
        ),
      next: (at) => (at === 0 ? null : positionText(at)),
    });
  }

  /**
   * The page from recently read events and at most one more chunk: followers are close together, so each chunk is read
   * once.
   */
  private passedPage({ after = null, limit = DEFAULT_PAGE, filter }: ReadAllOptions): LogPage | undefined {
    if (this.log.passed === undefined) return undefined;
    const matches = eventMatcher(filter);
    const head = this.log.head();
    const start = after === null ? 0 : positionNumber(after);
    const events: StoredEvent[] = [];
    let at = start;
    for (let isKnown = true; isKnown && events.length < limit;) {
      const chunk = this.log.passed.after(at, head, this.log.table);
      if (chunk === undefined) break;
      if (filter?.types?.some((type) => chunk.types.has(type)) === false) at += chunk.events.length;
      else
        for (const event of chunk.events) {
          at += 1;
          if (event !== undefined && matches(event.type, event.stream)) events.push(event);
          if (events.length >= limit) break;
        }
      isKnown = chunk.wasKnown;
    }
    return at === start ? undefined : { events, next: positionText(at), end: at >= head };
  }

  private pageBefore({ after = null, limit = DEFAULT_PAGE, filter }: ReadAllOptions): LogPage {
    const start = this.log.head() + 1;
    return page(limit, filter, after === null ? start : Math.min(start, positionNumber(after)), {
      isEnd: (at) => at <= 1,
      rows: (at, most) => this.log.table.before(at, Math.max(1, at - most)),
      next: (at) => (at === start ? after : positionText(at)),
    });
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
}

/** Yields to the event loop when a read has used its time. */
class Turn {
  private ends = performance.now() + TURN_MS;

  async end(): Promise<void> {
    if (performance.now() < this.ends) return;
    await nextTurn();
    this.ends = performance.now() + TURN_MS;
  }
}

interface Walk {
  readonly isEnd: (at: number) => boolean;
  readonly rows: (at: number, most: number) => readonly EventRow[];
  readonly next: (at: number) => Position | null;
}

/** Reads until the page is full, the time is up or the log ends. */
const page = (limit: number, filter: ReadAllOptions['filter'], start: number, walk: Walk): LogPage => {
  const matches = eventMatcher(filter);
  const turnEnds = performance.now() + TURN_MS;
  const events: StoredEvent[] = [];
  let at = start;
  while (!walk.isEnd(at) && events.length < limit) {
    for (const row of walk.rows(
      at,
      filter === undefined ? Math.min(ROWS_AT_ONCE, limit - events.length) : ROWS_AT_ONCE,
    )) {
      at = row[0];
      if (!isRemoved(row) && matches(row[4], row[1])) events.push(storedEvent(row));
      if (events.length >= limit) break;
    }
    if (performance.now() >= turnEnds) break;
  }
  return { events, next: walk.next(at), end: walk.isEnd(at) };
};
