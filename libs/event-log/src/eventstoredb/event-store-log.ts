import { type AppendResult, type ExpectedRevision, type NewEvent, type Position, type ReadStreamOptions, type StoredEvent, Unavailable, WrongExpectedRevision } from '@app/kernel';
import { type AppendLimits, checkAppend } from '../append-check';
import { follow } from '../catch-up-subscription';
import { type EventLog, InvalidAppend, type LogHealth, type LogPage, type ReadAllOptions, type SubscribeOptions, type Subscription } from '../event-log';
import { OpenSubscriptions } from '../open-subscriptions';
import { Appender } from './appender';
import { AppendStream } from './append-stream';
import type { Connection } from './connection';
import { Listener } from './listener';
import { LogPages, SharedPages } from './log-pages';
import { EventStoreLogReader } from './log-reader';
import { OurHead } from './our-head';
import { patiently } from './patience';
import { allRequest, streamRequest } from './read-request';
import type { Removals } from './removals';
import { Remover } from './remover';
import { LOG_DEPENDENCY, serverFault, unavailable } from './server-errors';
import { readFrom } from './server-reader';
import type { ReadLast } from './stream-metadata';

/** What the server takes at once, be it one event or many; it may be set to take less, and says so then. */
export const SERVER_LIMITS: AppendLimits = { event: 1024 * 1024, append: 1024 * 1024 };
/** Milliseconds within which health is told. */
const HEALTH_MS = 1_500;
/** Milliseconds for which a log that could not be written counts as not writable, unless something is written. */
const TROUBLE_MS = 10_000;

/** Milliseconds for which those who follow may finish the page in hand. */
const STOP_MS = 5_000;

/** The log on EventStoreDB or KurrentDB. */
export class EventStoreLog implements EventLog {
  /** An append without an answer is sent again, behind those that were sent meanwhile. */
  readonly mostInOrder = 1;
  readonly isShared: boolean;
  private readonly reader: EventStoreLogReader;
  /** For those who follow. */
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
    const pages = new LogPages(connection, removals);
    const shared = new SharedPages(new LogPages(connection, removals));
    const head = new OurHead(pages);
    this.reader = new EventStoreLogReader(connection, removals, pages, head);
    this.sharedReader = new EventStoreLogReader(connection, removals, shared, head);
    const last: ReadLast = async (stream, milliseconds) => (await this.read(stream, 'backwards', undefined, 1, milliseconds))[0];
    this.appender = new Appender(new AppendStream(connection), { from: (stream, revision, limit, milliseconds) => this.read(stream, 'forwards', revision, limit, milliseconds), last }, connection.ours);
    this.remover = new Remover(this.appender, last, removals);
    this.listener = new Listener(connection, () => shared.forget());
  }

  append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> {
    return this.write(async () => {
      checkAppend(stream, events, SERVER_LIMITS);
      if (stream.startsWith('$')) throw new InvalidAppend('a stream that begins with $ is the server\'s own');
      // The server takes a stream whose events were all removed for one that exists.
      if (expected === 'streamExists' && this.removals.before(stream) > 0 && !(await this.remover.isLive(stream))) throw new WrongExpectedRevision(stream, expected, -1);
      return this.appender.append(stream, events, expected);
    });
  }

  readStream(stream: string, options?: ReadStreamOptions): Promise<readonly StoredEvent[]> {
    return this.reader.readStream(stream, options);
  }

  readAll(options?: ReadAllOptions): Promise<LogPage> {
    return this.reader.readAll(options);
  }

  head(): Promise<Position | null> {
    return this.reader.head();
  }

  subscribe(options: SubscribeOptions): Subscription {
    const subscription: Subscription = follow(
      {
        readAll: (page) => this.sharedReader.readAll(page),
        listen: (onAppended, onLost) => this.listener.add({ position: () => subscription.position, onAppended, onLost }),
      },
      options,
    );
    return this.subscriptions.add(subscription);
  }

  truncate(stream: string, beforeRevision: number): Promise<void> {
    return this.write(() => this.remover.truncate(stream, beforeRevision));
  }

  delete(stream: string, expected: ExpectedRevision): Promise<void> {
    return this.write(() => this.remover.delete(stream, expected));
  }

  /** Asks the server, and goes by what became of the last append: a server that reads may still be unable to write. */
  async health(): Promise<LogHealth> {
    if (this.isClosed) return { writable: false, readable: false, reason: 'it is closed' };
    try {
      await patiently(HEALTH_MS, (left) => readFrom(this.connection, allRequest('backwards', null, 1), left));
    } catch (error) {
      return { writable: false, readable: false, reason: serverFault(error).message };
    }
    const { trouble } = this.appender;
    if (trouble === undefined || performance.now() - trouble.at > TROUBLE_MS) return { writable: true, readable: true };
    return { writable: false, readable: true, reason: trouble.reason };
  }

  /** Ends what follows, waits for what is being written, and then lets the connection go. A silent server holds nobody up for long. */
  async close(): Promise<void> {
    const tooLong = setTimeout(() => void this.connection.close(), STOP_MS);
    await this.subscriptions.stop();
    clearTimeout(tooLong);
    this.isClosed = true;
    await Promise.allSettled(this.writes);
    this.listener.stop();
    await this.reader.close();
  }

  private async read(stream: string, direction: 'forwards' | 'backwards', from: number | undefined, limit: number, milliseconds: number): Promise<readonly StoredEvent[]> {
    try {
      return (await patiently(milliseconds, (left) => readFrom(this.connection, streamRequest(stream, { direction, from, limit }), left, Infinity))).events;
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
