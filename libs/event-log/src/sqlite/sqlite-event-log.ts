import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AppendResult, ExpectedRevision, NewEvent, Position, ReadStreamOptions, StoredEvent } from '@app/kernel';
import { checkAppend } from '../append-check';
import { follow } from '../catch-up-subscription';
import {
  type EventLog,
  eventMatcher,
  LogCorrupted,
  type LogHealth,
  type LogPage,
  type ReadAllOptions,
  type SubscribeOptions,
  type Subscription,
} from '../event-log';
import { OpenSubscriptions } from '../open-subscriptions';
import type { FolderLock } from './folder-lock';
import type { KnownLog } from './known-log';
import type { LogWriter } from './log-writer';
import { positionNumber } from './positions';
import { DEFAULT_PAGE, type SqliteLogReader } from './sqlite-log-reader';

const NOTHING: readonly StoredEvent[] = Object.freeze([]);

/** The embedded log. A thread writes it; reads use a connection of the caller's thread. */
export class SqliteEventLog implements EventLog {
  /** Appends wait in one queue. Those behind a failed commit are rejected with it. */
  readonly mostInOrder = 256;
  private readonly subscriptions = new OpenSubscriptions();
  private damage: LogCorrupted | undefined;
  private lastTurn = Promise.resolve();

  constructor(
    private readonly known: KnownLog,
    private readonly writer: LogWriter,
    private readonly reader: SqliteLogReader,
    private readonly lock: FolderLock,
  ) {}

  async append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> {
    return await this.writer.append(stream, events, expected, checkAppend(stream, events));
  }

  async readStream(stream: string, options: ReadStreamOptions = {}): Promise<readonly StoredEvent[]> {
    if (options.direction === 'backwards') return this.watched(this.reader.readStream(stream, options));
    const end = this.known.endOf(stream);
    const from = options.from ?? 0;
    if (end !== undefined && from > end) return NOTHING;
    const head = this.known.head;
    const events = await this.watched(this.reader.readStream(stream, options));
    // Without a limit this read the whole stream, unless somebody wrote meanwhile.
    if (options.limit === undefined && head === this.known.head)
      this.known.learnEnd(stream, Math.max(end ?? -1, events.at(-1)?.revision ?? from - 1));
    return events;
  }

  endOf(stream: string): number | undefined {
    return this.known.endOf(stream);
  }

  async readAll(options: ReadAllOptions = {}): Promise<LogPage> {
    const recent = this.recentPage(options);
    if (recent !== undefined) return recent;
    await this.myTurn();
    return this.watched(this.reader.readAll(options));
  }

  eventAt(position: Position): Promise<StoredEvent | 'removed' | undefined> {
    return this.watched(this.reader.eventAt(position));
  }

  head(): Promise<Position | null> {
    return this.reader.head();
  }

  subscribe(options: SubscribeOptions): Subscription {
    return this.subscriptions.add(
      follow(
        {
          readAll: (page) => this.recentPage(page) ?? this.readAll(page),
          listen: (onAppended) => this.known.listen(onAppended),
        },
        options,
      ),
    );
  }

  deliverNow(): void {
    this.known.deliverNow();
  }

  truncate(stream: string, beforeRevision: number): Promise<void> {
    return this.writer.remove(stream, 'any', beforeRevision);
  }

  delete(stream: string, expected: ExpectedRevision): Promise<void> {
    return this.writer.remove(stream, expected, undefined);
  }

  async health(): Promise<LogHealth> {
    const reason = this.damage?.message ?? this.writer.down ?? this.writer.notice;
    return {
      writable: this.writer.down === undefined,
      readable: this.damage === undefined,
      ...(reason === undefined ? {} : { reason }),
    };
  }

  async close(): Promise<void> {
    await this.subscriptions.stop();
    await this.reader.close();
    await this.writer.close();
    this.lock.release();
  }

  /** Reads a page at the head from memory: most reads of a running system. */
  private recentPage({ direction, after, limit = DEFAULT_PAGE, filter }: ReadAllOptions): LogPage | undefined {
    if (direction === 'backwards' || after === undefined || after === null) return undefined;
    const { head, recent } = this.known;
    let at = positionNumber(after);
    if (at < head && recent.at(at + 1) === undefined) return undefined;
    const matches = eventMatcher(filter);
    const events: StoredEvent[] = [];
    let next = after;
    for (let event = recent.at(at + 1); event !== undefined && events.length < limit; event = recent.at(at + 1)) {
      at += 1;
      next = event.position;
      if (matches(event.type, event.stream)) events.push(event);
    }
    return { events, next, end: at >= head };
  }

  /** Waits for a turn of the event loop: one page is read from disk in each, however many subscribers are behind. */
  private myTurn(): Promise<void> {
    return (this.lastTurn = this.lastTurn.then(() => nextTurn()));
  }

  /** Remembers damage, so that `health` reports it. */
  private async watched<T>(read: Promise<T>): Promise<T> {
    try {
      return await read;
    } catch (error) {
      if (error instanceof LogCorrupted) this.damage = error;
      throw error;
    }
  }
}
