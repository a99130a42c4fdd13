import {
  type AppendResult,
  type ExpectedRevision,
  isWrongExpectedRevision,
  type NewEvent,
  offBudget,
  type Position,
  type ReadStreamOptions,
  renewReadScope,
  type StoredEvent,
  Unavailable,
  WAIT_MS,
  WrongExpectedRevision,
} from '@app/kernel';
import { type AppendLimits, checkAppend } from '../append-check';
import { FOLLOW_TIMES, follow } from '../catch-up-subscription';
import {
  type EventLog,
  InvalidAppend,
  type LogHealth,
  type LogPage,
  type ReadAllOptions,
  type SubscribeOptions,
  type Subscription,
} from '../event-log';
import { OpenSubscriptions } from '../open-subscriptions';
import { Appender } from './appender';
import { AppendStream } from './append-stream';
import type { Connection } from './connection';
import { ServerImportMark } from './import-mark';
import { Listener } from './listener';
import { LogPages, NewestPages, SharedPages } from './log-pages';
import { EventStoreLogReader } from './log-reader';
import { OurHead } from './our-head';
import { retry } from './retry';
import { SLOW_MS } from './pulse';
import { EventStoreReadIndex } from './read-index';
import { streamRequest, wholeRequest } from './read-request';
import type { Removals } from './removals';
import { Remover } from './remover';
import { LOG_DEPENDENCY, serverFault, ServerFault, unavailable } from './server-errors';
import { readFrom } from './server-reader';
import type { ReadLast } from './stream-metadata';

/** The server accepts this many bytes at once, in one event or many. It may be configured for less, and says so then. */
export const SERVER_LIMITS: AppendLimits = { event: 1024 * 1024, append: 1024 * 1024 };
/** Milliseconds for which a log that could not be written counts as not writable, unless something is written. */
const TROUBLE_MS = 10_000;

/** Milliseconds for subscribers to finish the page in progress. */
const STOP_MS = 5_000;

/** The log on EventStoreDB or KurrentDB. */
export class EventStoreLog implements EventLog {
  /** One at a time: an unanswered append is sent again, after those that were sent meanwhile. */
  readonly mostInOrder = 1;
  readonly isShared: boolean;
  readonly readIndex: EventStoreReadIndex;
  readonly importMark: ServerImportMark;
  private readonly reader: EventStoreLogReader;
  /** Pages for subscribers. */
  private readonly sharedReader: EventStoreLogReader;
  private readonly appender: Appender;
  private readonly remover: Remover;
  private readonly listener: Listener;
  private readonly subscriptions = new OpenSubscriptions();
  private readonly writes = new Set<Promise<unknown>>();
  private isClosed = false;

  constructor(
    private readonly connection: Connection,
    private readonly removals: Removals,
  ) {
    this.isShared = connection.ours !== undefined;
    this.readIndex = new EventStoreReadIndex(connection, removals, (isOthers) => this.listener.onNews(isOthers));
    const learnRemovals = (): Promise<void> => this.readIndex.ask();
    const pages = new LogPages(connection, learnRemovals);
    const head = new OurHead(pages);
    this.reader = new EventStoreLogReader(connection, removals, new NewestPages(this.readIndex, pages), head);
    this.sharedReader = new EventStoreLogReader(
      connection,
      removals,
      new NewestPages(this.readIndex, new SharedPages(pages, learnRemovals)),
      head,
    );
    const last: ReadLast = async (stream, milliseconds) =>
      (await this.read(stream, 'backwards', undefined, 1, milliseconds))[0];
    this.appender = new Appender(
      connection,
      new AppendStream(connection),
      {
        from: (stream, revision, limit, milliseconds) => this.read(stream, 'forwards', revision, limit, milliseconds),
        last,
      },
      connection.ours,
    );
    this.importMark = new ServerImportMark(this.appender, last);
    this.remover = new Remover(this.appender, last, removals);
    this.listener = new Listener(connection, this.readIndex);
  }

  append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> {
    return this.write(async () => {
      checkAppend(stream, events, SERVER_LIMITS);
      if (stream.startsWith('$')) throw new InvalidAppend("a stream that begins with $ is the server's own");
      // The server treats a stream whose events were all removed as existing.
      if (expected === 'streamExists' && this.removals.before(stream) > 0 && !(await this.remover.isLive(stream)))
        throw new WrongExpectedRevision(stream, expected, -1);
      return this.appended(stream, events, expected);
    });
  }

  /**
   * If the read shows events beyond the last answer of the log, that answer is no longer used: no older state may be
   * seen after newer state.
   */
  async readStream(stream: string, options: ReadStreamOptions = {}): Promise<readonly StoredEvent[]> {
    const ended = this.readIndex.watch(stream);
    let end: number | undefined;
    try {
      const events = await this.reader.readStream(stream, options);
      end = endIn(events, options);
      const newest = options.direction === 'backwards' ? events[0] : events.at(-1);
      if (newest !== undefined && this.readIndex.isBeyond(newest.position)) renewReadScope();
      return events;
    } finally {
      ended(end);
    }
  }

  endOf(stream: string): number | undefined {
    return this.readIndex.endOf(stream);
  }

  readAll(options?: ReadAllOptions): Promise<LogPage> {
    return this.reader.readAll(options);
  }

  eventAt(position: Position): Promise<StoredEvent | 'removed' | undefined> {
    return this.reader.eventAt(position, () => this.readIndex.ask());
  }

  head(): Promise<Position | null> {
    return this.readIndex.head(() => this.reader.head());
  }

  lastHead(): Position | null | undefined {
    return performance.now() - this.readIndex.askedAt < 2 * FOLLOW_TIMES.silence
      ? this.readIndex.newestOfOurs
      : undefined;
  }

  subscribe(options: SubscribeOptions): Subscription {
    const subscription: Subscription = offBudget(() =>
      follow(
        {
          readAll: (page, isWoken) =>
            (isWoken
              ? this.sharedReader.shown(page, (after, limit) => this.readIndex.tail.after(after, limit))
              : undefined) ?? this.sharedReader.readAll(page),
          listen: (onAppended, onLost) =>
            this.listener.add({
              position: () => subscription.position,
              withForeign: options.withForeign === true,
              onAppended,
              onLost,
            }),
          restored: this.readIndex,
        },
        options,
        { ...FOLLOW_TIMES, silence: undefined },
      ),
    );
    return this.subscriptions.add(subscription);
  }

  deliverNow(position: Position): void {
    this.listener.deliverNow(position);
  }

  truncate(stream: string, beforeRevision: number): Promise<void> {
    return this.write(() => this.remover.truncate(stream, beforeRevision));
  }

  delete(stream: string, expected: ExpectedRevision): Promise<void> {
    return this.write(() => this.remover.delete(stream, expected));
  }

  /**
   * Asks the server, and considers the outcome of the last append: a server that reads may still be unable to write.
   */
  async health(): Promise<LogHealth> {
    if (this.isClosed) return { writable: false, readable: false, reason: 'it is closed' };
    try {
      await retry(
        this.connection,
        (left, givenUp) => readFrom(this.connection, wholeRequest('backwards', null, 1), left, undefined, givenUp),
        { timeoutMs: SLOW_MS },
      );
    } catch (error) {
      const fault = serverFault(error);
      if (fault.fault !== 'late' || this.connection.lostAt !== undefined || this.connection.pulse.silence > WAIT_MS)
        return { writable: false, readable: false, reason: fault.message };
      return { writable: false, readable: false, slow: true, reason: new ServerFault('slow').message };
    }
    const { trouble } = this.appender;
    if (trouble === undefined || performance.now() - trouble.at > TROUBLE_MS) return { writable: true, readable: true };
    return { writable: false, readable: true, reason: trouble.reason };
  }

  /**
   * Ends the followers, waits for running appends, and then closes the connection. A silent server does not delay it
   * for long.
   */
  async close(): Promise<void> {
    const tooLong = setTimeout(() => void this.connection.close(), STOP_MS);
    await this.subscriptions.stop();
    clearTimeout(tooLong);
    this.isClosed = true;
    await Promise.allSettled(this.writes);
    this.listener.stop();
    await this.reader.close();
  }

  /** Others may have appended before this append was accepted or rejected, so the log is asked again from here on. */
  private async appended(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
  ): Promise<AppendResult> {
    const ended = this.readIndex.watch(stream);
    let end: number | AppendResult | undefined;
    try {
      return (end = await this.appender.append(stream, events, expected));
    } catch (error) {
      if (isWrongExpectedRevision(error) && error.actual >= 0) end = error.actual;
      throw error;
    } finally {
      ended(end);
      renewReadScope();
    }
  }

  private async read(
    stream: string,
    direction: 'forwards' | 'backwards',
    from: number | undefined,
    limit: number,
    milliseconds: number,
  ): Promise<readonly StoredEvent[]> {
    try {
      return (
        await retry(
          this.connection,
          (left, givenUp) =>
            readFrom(this.connection, streamRequest(stream, { direction, from, limit }), left, Infinity, givenUp),
          { timeoutMs: milliseconds },
        )
      ).events;
    } catch (error) {
      throw unavailable(serverFault(error));
    }
  }

  private write<T>(work: () => Promise<T>): Promise<T> {
    if (this.isClosed) return Promise.reject(new Unavailable(LOG_DEPENDENCY, 'it is closed'));
    const writing = work();
    this.writes.add(writing);
    const settled = (): void => void this.writes.delete(writing);
    writing.then(settled, settled);
    return writing;
  }
}

/** The last revision of a stream, -1 for none, where a read from a revision on, or from the end, tells it. */
const endIn = (
  events: readonly StoredEvent[],
  { direction, from, limit = Infinity }: ReadStreamOptions,
): number | undefined => {
  if (direction === 'backwards') return from === undefined && limit > 0 ? (events[0]?.revision ?? -1) : undefined;
  return events.length < limit ? (events.at(-1)?.revision ?? (from ?? 0) - 1) : undefined;
};
