import { type Position, WAIT_MS } from '@app/kernel';
import type { Connection } from './connection';
import { retry } from './retry';
import type { EventStoreReadIndex } from './read-index';
import { allRequest, wholeRequest } from './read-request';
import { allFault, ServerFault } from './server-errors';
import { type Found, readFrom } from './server-reader';

/** A page may begin after many system events: after each silence the next read waits twice as long, up to this. */
const LONGEST_MS = 28_000;

/** Events that are read at once of a stretch of the server's own. */
const STRETCH = 5_000;
/** So many in a row at the end of such a read: more of them follow. */
const GOES_ON = 1_000;
/** Places where stretches were met that are remembered. */
const MOST_STRETCHES = 100;

type Direction = 'forwards' | 'backwards';

/** Reads pages of the whole log, without the server's own streams. */
export interface PageSource {
  /** Forwards the event at `from` may come too. What was removed before the call is known to `Removals` when it ends. Throws `ServerFault` or `Unavailable`. */
  page(direction: Direction, from: Position | null, limit: number): Promise<Found>;
}

/**
 * Reads every page from the server. Links of projections may fill the log, and a filtered read waits until the server
 * has scanned them. If a read got nothing while the server answered other calls, the next one includes them, and makes
 * progress.
 */
export class LogPages implements PageSource {
  private silence = WAIT_MS;
  private readonly stretches = new Set<string>();

  constructor(
    private readonly connection: Connection,
    /** Learns what was removed before the call. */
    private readonly learnRemovals: () => Promise<void>,
  ) {}

  async page(direction: Direction, from: Position | null, limit: number): Promise<Found> {
    const isStretch = this.stretches.delete(placeOf(direction, from));
    const request = isStretch ? wholeRequest(direction, from, STRETCH) : allRequest(direction, from, limit);
    const { silence } = this;
    const begun = performance.now();
    const givenUp = new AbortController();
    const { signal } = givenUp;
    const read = retry(this.connection, (left) => readFrom(this.connection, request, left, undefined, signal), {
      timeoutMs: silence,
      isRetryable: ({ isPassing }) => isPassing && !signal.aborted,
    });
    try {
      const [found] = await Promise.all([read, this.learnRemovals()]);
      this.silence = WAIT_MS;
      return isStretch ? this.withoutSystemStreams(found, direction, from, limit) : found;
    } catch (error) {
      // On a silent server, the question for removals may fail long before this read does, and further pages would pile
      // up.
      givenUp.abort();
      if (error instanceof ServerFault && error.fault === 'late') {
        const isSearching = !isStretch && this.connection.pulse.heardAt > begun;
        if (isSearching || isStretch) this.remember(direction, from);
        if (!isSearching) this.silence = Math.min(2 * silence, LONGEST_MS);
      }
      throw error instanceof ServerFault ? allFault(error) : error;
    }
  }

  private withoutSystemStreams(found: Found, direction: Direction, from: Position | null, limit: number): Found {
    const shown = found.events.filter(({ stream }) => !stream.startsWith('$'));
    const upTo = found.events.at(-1)?.position;
    const isEnd = found.isWhole && found.events.length < STRETCH;
    // The end of the log moves on: who reads back from it comes to the same stretch again.
    if (shown.length === 0 && from === null) this.remember(direction, from);
    const last = shown.at(-1);
    const goesOn = found.events.length - (last === undefined ? 0 : found.events.lastIndexOf(last)) > GOES_ON;
    if (goesOn && !isEnd && upTo !== undefined) this.remember(direction, upTo);
    const isAll = shown.length <= limit;
    return { ...found, events: shown.slice(0, limit), isWhole: isEnd && isAll, upTo: isAll ? upTo : undefined };
  }

  private remember(direction: Direction, from: Position | null): void {
    if (this.stretches.size >= MOST_STRETCHES) this.stretches.clear();
    this.stretches.add(placeOf(direction, from));
  }
}

const placeOf = (direction: Direction, from: Position | null): string => `${direction} ${from ?? ''}`;

/**
 * Followers that ask for the same page at the same time share it: usually, all followers of a process begin at the same
 * place.
 */
export class SharedPages implements PageSource {
  private readonly underWay = new Map<string, Promise<Found>>();

  constructor(
    private readonly pages: PageSource,
    /** Learns what was removed before the call. */
    private readonly learnRemovals: () => Promise<void>,
  ) {}

  async page(direction: Direction, from: Position | null, limit: number): Promise<Found> {
    const key = `${placeOf(direction, from)} ${limit}`;
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

  async page(direction: Direction, from: Position | null, limit: number): Promise<Found> {
    const { index } = this;
    if (direction === 'forwards' && index.tail.has(from)) {
      await index.ask();
      const newest = index.tail.after(from, limit);
      if (newest !== undefined) return newest;
    }
    return this.older.page(direction, from, limit);
  }
}
