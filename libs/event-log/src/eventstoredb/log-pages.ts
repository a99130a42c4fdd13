import { type Position, WAIT_MS } from '@app/kernel';
import type { Connection } from './connection';
import { retry } from './retry';
import type { EventStoreReadIndex } from './read-index';
import { allRequest } from './read-request';
import { allFault, ServerFault } from './server-errors';
import { type Found, readFrom } from './server-reader';

/** A page may begin behind many events of the server's own: after each silence the next read waits twice as long, up to this. */
const LONGEST_MS = 28_000;

/** Reads pages of the whole log, without the server's own streams. */
export interface PageSource {
  /** Forwards the event at `from` may come too. What was removed before the call is known to `Removals` when it ends. Throws `ServerFault` or `Unavailable`. */
  page(direction: 'forwards' | 'backwards', from: Position | null, limit: number): Promise<Found>;
}

/** Reads every page from the server. */
export class LogPages implements PageSource {
  private silence = WAIT_MS;

  constructor(
    private readonly connection: Connection,
    /** Learns what was removed before the call. */
    private readonly learnRemovals: () => Promise<void>,
  ) {}

  async page(direction: 'forwards' | 'backwards', from: Position | null, limit: number): Promise<Found> {
    const request = allRequest(direction, from, limit);
    const { silence } = this;
    const givenUp = new AbortController();
    const { signal } = givenUp;
    const read = retry(this.connection, (left) => readFrom(this.connection, request, left, undefined, signal), {
      most: silence,
      isWorthwhile: ({ isPassing }) => isPassing && !signal.aborted,
    });
    try {
      const [found] = await Promise.all([read, this.learnRemovals()]);
      this.silence = WAIT_MS;
      return found;
    } catch (error) {
      // A silent server may be asked for the removals and fail long before this read does: further pages would pile up behind it.
      givenUp.abort();
      if (error instanceof ServerFault && error.fault === 'late') this.silence = Math.min(2 * silence, LONGEST_MS);
      throw error instanceof ServerFault ? allFault(error) : error;
    }
  }
}

/** Lets followers who ask for the same page at the same time share it: all that a process runs begin at the same place as a rule. */
export class SharedPages implements PageSource {
  private readonly underWay = new Map<string, Promise<Found>>();

  constructor(
    private readonly pages: PageSource,
    /** Learns what was removed before the call. */
    private readonly learnRemovals: () => Promise<void>,
  ) {}

  async page(direction: 'forwards' | 'backwards', from: Position | null, limit: number): Promise<Found> {
    const key = `${direction} ${from ?? ''} ${limit}`;
    const underWay = this.underWay.get(key);
    if (underWay === undefined) {
      const page = this.pages.page(direction, from, limit).finally(() => this.underWay.delete(key));
      this.underWay.set(key, page);
      return page;
    }
    const [found] = await Promise.all([underWay, this.learnRemovals()]);
    // More may have been appended since the request.
    return { ...found, isWhole: false };
  }
}

/** Pages from the newest events, which the log is asked for anyway, as long as they reach back so far. */
export class NewestPages implements PageSource {
  constructor(
    private readonly index: EventStoreReadIndex,
    private readonly older: PageSource,
  ) {}

  async page(direction: 'forwards' | 'backwards', from: Position | null, limit: number): Promise<Found> {
    const { index } = this;
    if (direction === 'forwards' && index.tail.has(from)) {
      await index.ask();
      const newest = index.tail.after(from, limit);
      if (newest !== undefined) return newest;
    }
    return this.older.page(direction, from, limit);
  }
}
