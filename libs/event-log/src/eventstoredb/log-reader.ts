import { type Position, type ReadStreamOptions, type StoredEvent, Unavailable, WAIT_MS } from '@app/kernel';
import {
  eventMatcher,
  type ForeignEvent,
  LogCorrupted,
  type LogPage,
  type LogReader,
  type ReadAllOptions,
} from '../event-log';
import type { Connection } from './connection';
import { LogPages, type PageSource } from './log-pages';
import { OurHead } from './our-head';
import { retry } from './retry';
import { type StreamRead, streamRequest, wholeRequest } from './read-request';
import type { Removals } from './removals';
import { LOG_DEPENDENCY, serverFault, unavailable } from './server-errors';
import { type Found, NOTHING, readFrom } from './server-reader';
import { limitIn, type ReadLast, readMetadata } from './stream-metadata';

export const DEFAULT_PAGE = 500;
/** Events that are read at once for a filter to choose from. */
const LEAST_FILTERED = 100;

/** Reads the log over a connection. Events that were removed through `Removals` are never shown, nor streams of the server's own, nor what others wrote. */
export class EventStoreLogReader implements LogReader {
  readonly isShared: boolean;
  private isClosed = false;

  constructor(
    private readonly connection: Connection,
    private readonly removals: Removals,
    private readonly pages: PageSource = new LogPages(connection, () => removals.learn()),
    private readonly ourHead = new OurHead(pages),
  ) {
    this.isShared = connection.ours !== undefined;
  }

  async readStream(
    stream: string,
    { direction = 'forwards', from, limit = Infinity }: ReadStreamOptions = {},
  ): Promise<readonly StoredEvent[]> {
    if (limit <= 0 || stream.startsWith('$')) return [];
    return this.sound(async () => {
      const events: StoredEvent[] = [];
      // Others' events in the stream take up places of a read: as a rule there are none, and one read is all.
      for (let at = from, most = limit; ; most = Math.max(limit, LEAST_FILTERED)) {
        const found = await this.readOnce(stream, { direction, from: at, limit: most });
        if (direction === 'forwards') await this.checkBeginning(stream, at ?? 0, found);
        for (const event of found.events) if (!found.foreign.has(event) && events.length < limit) events.push(event);
        const last = found.events.at(-1);
        if (
          events.length >= limit ||
          last === undefined ||
          found.events.length < most ||
          (direction === 'backwards' && last.revision === 0)
        )
          return events;
        at = last.revision + (direction === 'forwards' ? 1 : -1);
      }
    });
  }

  async readAll(options: ReadAllOptions = {}): Promise<LogPage> {
    return this.sound(() => (options.direction === 'backwards' ? this.pageBefore(options) : this.pageAfter(options)));
  }

  /**
   * Like `eventAt` of the log. `learnRemovals` meanwhile learns what was removed before the call. One unfiltered read:
   * finding the next event of ours might take long.
   */
  eventAt(position: Position, learnRemovals: () => Promise<void>): Promise<StoredEvent | 'removed' | undefined> {
    return this.sound(async () => {
      const request = wholeRequest('forwards', position, 1);
      const read = retry(this.connection, (left, givenUp) =>
        readFrom(this.connection, request, left, undefined, givenUp),
      );
      const [{ events, foreign }] = await Promise.all([read, learnRemovals()]);
      const [event] = events;
      if (event?.position !== position || event.stream.startsWith('$') || foreign.has(event)) return undefined;
      return this.removals.has(event) ? 'removed' : event;
    });
  }

  head(): Promise<Position | null> {
    return this.sound(() => this.ourHead.find());
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.connection.close();
  }

  /** A page of events that were read already, from `at`; undefined where they are not at hand. */
  shown(
    options: ReadAllOptions,
    at: (after: Position | null, limit: number) => Found | undefined,
  ): LogPage | undefined {
    const from = this.startOf(options);
    const found = at(from, mostOf(options) + 1);
    return found && this.forwards(found, from, options);
  }

  private async pageAfter(options: ReadAllOptions): Promise<LogPage> {
    const from = this.startOf(options);
    return this.forwards(await this.pages.page('forwards', from, mostOf(options) + 1), from, options);
  }

  private startOf({ after = null, withForeign }: ReadAllOptions): Position | null {
    return withForeign === true ? after : this.ourHead.pastForeign(after);
  }

  private forwards(found: Found, from: Position | null, options: ReadAllOptions): LogPage {
    const { after = null, limit = DEFAULT_PAGE } = options;
    const most = mostOf(options);
    const first = found.events[0]?.position === from ? 1 : 0;
    const isAll = found.events.length <= first + most;
    const page = this.chosen(
      { ...found, events: found.events.slice(first, first + most), upTo: isAll ? found.upTo : undefined },
      from,
      limit,
      found.isWhole && found.events.length <= most,
      options,
    );
    return from !== after && found.events.length === first ? { ...page, isForeign: true } : page;
  }

  private async pageBefore(options: ReadAllOptions): Promise<LogPage> {
    const { after = null, limit = DEFAULT_PAGE, withForeign } = options;
    const from = withForeign === true ? after : await this.ourHead.beforeForeign(after);
    const most = mostOf(options);
    const found = await this.pages.page('backwards', from, most);
    return this.chosen(found, from, limit, found.isWhole && found.events.length < most, options);
  }

  /** What of the events read is shown; all up to `next` was looked at. */
  private chosen(
    { events: read, foreign: others, upTo }: Found,
    after: Position | null,
    limit: number,
    isEnd: boolean,
    { filter, withForeign }: ReadAllOptions,
  ): LogPage {
    const matches = eventMatcher(filter);
    const events: StoredEvent[] = [];
    const foreign: ForeignEvent[] = [];
    let theirs = 0;
    let looked = 0;
    let next = after;
    for (const event of read) {
      if (events.length === limit) break;
      looked += 1;
      next = event.position;
      if (this.removals.has(event)) continue;
      const at = others.get(event);
      if (at === undefined) {
        if (matches(event.type, event.stream)) events.push(event);
        continue;
      }
      theirs += 1;
      if (withForeign === true)
        foreign.push({ ...event, at, isNamedAsOurs: this.connection.ours?.isOurStream(event.stream) === true });
    }
    return {
      events,
      next: (looked === read.length ? upTo : undefined) ?? next,
      end: isEnd && looked === read.length,
      ...(foreign.length > 0 && { foreign }),
      ...(theirs > 0 && theirs === looked && { isForeign: true }),
    };
  }

  private readOnce(stream: string, read: StreamRead, most?: number): Promise<Found> {
    return retry(
      this.connection,
      (left, givenUp) => readFrom(this.connection, streamRequest(stream, read), left, Infinity, givenUp),
      most === undefined ? {} : { timeoutMs: most },
    );
  }

  /**
   * Throws `LogCorrupted` where a limit that others gave one of our streams hides its beginning: nothing may be decided by the
   * rest. What is missing as `truncate` leaves it was removed, perhaps by another process just now.
   */
  private async checkBeginning(stream: string, from: number, found: Found): Promise<void> {
    const [first] = found.events;
    if (first === undefined) {
      // A stream that is there, with nothing in it.
      if (from > 0 || found === NOTHING) return;
    } else if (found.foreign.has(first) || first.revision <= Math.max(from, this.removals.before(stream))) return;
    const readLast: ReadLast = async (name, most) =>
      (await this.readOnce(name, { direction: 'backwards', from: undefined, limit: 1 }, most)).events[0];
    const metadata = await readMetadata(readLast, stream, WAIT_MS);
    const limit = limitIn(metadata);
    // Without a first event, what was removed may be all there was.
    if (limit === undefined || (first === undefined ? metadata.before > 0 : first.revision <= metadata.before)) return;
    const hidden = first === undefined ? 'all its events' : `its events before ${first.revision}`;
    throw new LogCorrupted(
      `${stream}@${from}`,
      `the metadata that another program gave the stream hide ${hidden}: take ${limit} out before the server is scavenged`,
    );
  }

  private async sound<T>(read: () => Promise<T>): Promise<T> {
    if (this.isClosed) throw new Unavailable(LOG_DEPENDENCY, 'it is closed');
    try {
      return await read();
    } catch (error) {
      if (error instanceof RangeError || error instanceof Unavailable || error instanceof LogCorrupted) throw error;
      const fault = serverFault(error);
      if (fault.fault === 'invalidPosition') throw new RangeError(fault.message, { cause: error });
      throw unavailable(fault);
    }
  }
}

/** Events that are looked at for a page. */
const mostOf = ({ limit = DEFAULT_PAGE, filter }: ReadAllOptions): number =>
  filter === undefined ? limit : Math.max(limit, LEAST_FILTERED);
