import { type Position, type ReadStreamOptions, type StoredEvent, Unavailable } from '@app/kernel';
import type { LogPage, LogReader, ReadAllOptions } from '../event-log';
import { eventMatcher } from '../event-matcher';
import type { Connection } from './connection';
import { LogPages, type PageSource, READ_MS } from './log-pages';
import { patiently } from './patience';
import { streamRequest } from './read-request';
import type { Removals } from './removals';
import { LOG_DEPENDENCY, serverFault, unavailable } from './server-errors';
import { readFrom } from './server-reader';

export const DEFAULT_PAGE = 500;
/** Events that are read at once for a filter to choose from. */
const LEAST_FILTERED = 100;

/** Reads the log over a connection. Events that were removed through `Removals` are never shown, nor streams of the server's own. */
export class EventStoreLogReader implements LogReader {
  private isClosed = false;

  constructor(
    private readonly connection: Connection,
    private readonly removals: Removals,
    private readonly pages: PageSource = new LogPages(connection, removals),
  ) {}

  async readStream(stream: string, { direction = 'forwards', from, limit = Infinity }: ReadStreamOptions = {}): Promise<readonly StoredEvent[]> {
    if (limit <= 0 || stream.startsWith('$')) return [];
    const request = streamRequest(stream, { direction, from, limit });
    return this.sound(async () => (await patiently(READ_MS, (left) => readFrom(this.connection, request, left, Infinity))).events);
  }

  async readAll(options: ReadAllOptions = {}): Promise<LogPage> {
    return this.sound(() => (options.direction === 'backwards' ? this.pageBefore(options) : this.pageAfter(options)));
  }

  async head(): Promise<Position | null> {
    const { events } = await this.sound(() => this.pages.page('backwards', null, 1));
    return events[0]?.position ?? null;
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.connection.close();
  }

  private async pageAfter({ after = null, limit = DEFAULT_PAGE, filter }: ReadAllOptions): Promise<LogPage> {
    const most = filter === undefined ? limit : Math.max(limit, LEAST_FILTERED);
    const { events, isWhole } = await this.pages.page('forwards', after, most + 1);
    const first = events[0]?.position === after ? 1 : 0;
    return this.chosen(events.slice(first, first + most), after, limit, isWhole && events.length <= most, filter);
  }

  private async pageBefore({ after = null, limit = DEFAULT_PAGE, filter }: ReadAllOptions): Promise<LogPage> {
    const most = filter === undefined ? limit : Math.max(limit, LEAST_FILTERED);
    const { events, isWhole } = await this.pages.page('backwards', after, most);
    return this.chosen(events, after, limit, isWhole && events.length < most, filter);
  }

  /** What of the events read is shown; all up to `next` was looked at. */
  private chosen(read: readonly StoredEvent[], after: Position | null, limit: number, isEnd: boolean, filter: ReadAllOptions['filter']): LogPage {
    const matches = eventMatcher(filter);
    const events: StoredEvent[] = [];
    let next = after;
    for (const event of read) {
      if (events.length === limit) return { events, next, end: false };
      next = event.position;
      if (matches(event.type, event.stream) && !this.removals.has(event)) events.push(event);
    }
    return { events, next, end: isEnd };
  }

  private async sound<T>(read: () => Promise<T>): Promise<T> {
    if (this.isClosed) throw new Unavailable(LOG_DEPENDENCY, 'it is closed');
    try {
      return await read();
    } catch (error) {
      if (error instanceof RangeError || error instanceof Unavailable) throw error;
      const fault = serverFault(error);
      if (fault.fault === 'invalidPosition') throw new RangeError(fault.message, { cause: error });
      throw unavailable(fault);
    }
  }
}
