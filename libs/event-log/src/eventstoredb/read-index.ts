import type { ReadReq } from '@eventstore/db-client/generated/streams_pb';
import {
  type AppendResult,
  moment,
  offBudget,
  type Position,
  type ReadIndex,
  servesReadScope,
  type StoredEvent,
} from '@app/kernel';
import type { Connection } from './connection';
import { LogTail } from './log-tail';
import { awaited, retry } from './retry';
import { allRequest, wholeRequest } from './read-request';
import { type Removals, REMOVALS_STREAM } from './removals';
import { allFault, serverFault, ServerFault, unavailable } from './server-errors';
import { type Found, readFrom } from './server-reader';
import { SharedQuestion } from './shared-question';

/**
 * Most events in one answer. If the log grew by more, it is followed from its new end and everything remembered is
 * forgotten.
 */
const MOST_EVENTS = 2_000;
/** Followers are notified after this many foreign events, so the next event of ours finds them not far behind. */
const MOST_PASSED = 500;
/** Milliseconds to search for the last event that is not a system event, and to wait before the next search if that was too short. */
const SEARCH_MS = 2_000;
const SEARCH_AGAIN_MS = 60_000;
/** Streams whose end is remembered; then all are forgotten, which costs a read of each that comes again. */
const MOST_STREAMS = 50_000;

/** The event up to which the log was followed, the server's own included; without an id for an empty log. */
interface Followed {
  readonly position: Position | null;
  readonly id: string | undefined;
}

interface End {
  /** No event of the stream stands beyond it. */
  revision: number;
  /** The moment when the stream itself was read or written last. */
  asOf: number;
}

/**
 * Follows the log from its end at the start. One read of `$all` from there says how far the log is and which streams
 * have changed. It is unfiltered, so it never reads the server's own events twice.
 */
export class EventStoreReadIndex implements ReadIndex {
  timeline = 1;
  /** The end of the log when it was last found to be replaced. */
  private restoredEnd: Position | null = null;
  private isRestored = false;
  /** The newest events, but the server's own. */
  readonly tail = new LogTail();
  /** Position of the last event that is not the server's own; undefined until the log was asked. */
  newest: Position | null | undefined;
  /** Position of the last event of ours, null for none; undefined while that is not known. */
  newestOfOurs: Position | null | undefined;
  /** When the last question was asked that is answered, by this process's steady clock, milliseconds. */
  askedAt = Number.NEGATIVE_INFINITY;
  private asked = 0;
  private searchesAt = Number.NEGATIVE_INFINITY;
  /** Events of others' since those who follow were told. */
  private passed = 0;
  private followed: Followed | undefined;
  private ends = new Map<string, End>();
  /** Streams that are being read or written, and how many do. */
  private readonly watched = new Map<string, number>();
  /** What was learnt under another one is not whole: some of what moved meanwhile was not followed. */
  private generation = 0;
  private readonly questions = new SharedQuestion(() => offBudget(() => this.question()));

  constructor(
    private readonly connection: Connection,
    private readonly removals: Removals,
    /** Told when events came, and when the log is followed anew. `isOthers`: they are others', and few. */
    private readonly onNews: (isOthers: boolean) => void,
  ) {}

  /** Resolves when everything that was acknowledged before the call is known. Throws `Unavailable`, also where the caller has waited for long enough. */
  async ask(): Promise<void> {
    try {
      await awaited(this.connection, this.questions.ask());
    } catch (error) {
      throw error instanceof ServerFault ? unavailable(error) : error;
    }
  }

  /** The end of the log when it was last found to be replaced, null for an empty one: reads since then show everything up to there. Throws `Unavailable`. */
  async end(): Promise<Position | null> {
    await this.ask();
    return this.restoredEnd;
  }

  /** Resolves when the log was followed up to a position where an event is known to be. Throws `Unavailable`. */
  async reach(position: Position): Promise<void> {
    // The question under way may have been asked too early; the next one is not.
    for (let round = 0; round < 2 && !this.hasReached(position); round += 1) await this.questions.join();
  }

  /** The end of our events. `find` looks for it where none was followed yet. Throws as `find` does, or `Unavailable`. */
  async head(find: () => Promise<Position | null>): Promise<Position | null> {
    await this.ask();
    if (this.newestOfOurs !== undefined) return this.newestOfOurs;
    const { generation } = this;
    const found = await find();
    // Events that were followed meanwhile may come after it.
    if (generation === this.generation) this.newestOfOurs ??= found;
    return this.newestOfOurs ?? found;
  }

  endOf(stream: string): number | undefined {
    const end = this.ends.get(stream);
    return end !== undefined && servesReadScope(Math.max(end.asOf, this.asked)) ? end.revision : undefined;
  }

  lastEndOf(stream: string): { readonly revision: number; readonly askedAt: number } | undefined {
    const end = this.ends.get(stream);
    return end && { revision: end.revision, askedAt: this.askedAt };
  }

  async confirm(stream: string, revision: number): Promise<boolean> {
    const known = this.ends.get(stream)?.revision;
    // It must be read anyway; but remembered state of a log that may have been replaced must not be used.
    if (known === undefined ? revision < 0 : known > revision) return false;
    if (!servesReadScope(this.asked)) await this.ask();
    return (this.ends.get(stream)?.revision ?? Infinity) <= revision;
  }

  /** Watches a stream while it is read or written, so no concurrent change is missed. Call the result once, with the last revision that was found, if any, or with the result of the append. */
  watch(stream: string): (found?: number | AppendResult) => void {
    const { generation } = this;
    const begun = moment();
    this.watched.set(stream, (this.watched.get(stream) ?? 0) + 1);
    return (found) => {
      const others = (this.watched.get(stream) ?? 1) - 1;
      if (others > 0) this.watched.set(stream, others);
      else this.watched.delete(stream);
      if (found === undefined || generation !== this.generation) return;
      if (typeof found === 'number') this.learn(stream, found, begun);
      // It may be an earlier append with events of others after it. If this is not known yet, following the log finds
      // them.
      else if (this.isBeyond(found.position)) this.learn(stream, found.revision, 0);
    };
  }

  /** True for a position beyond the followed part of the log. */
  isBeyond(position: Position): boolean {
    return this.followed !== undefined && !this.hasReached(position);
  }

  private hasReached(position: Position): boolean {
    return (this.followed?.position ?? '') >= position;
  }

  private async question(): Promise<void> {
    const [asked, askedAt] = [moment(), performance.now()];
    try {
      await this.answer();
    } catch (error) {
      throw unavailable(serverFault(error));
    }
    if (asked < this.asked) return;
    this.asked = asked;
    this.askedAt = askedAt;
  }

  private async answer(): Promise<void> {
    const { followed, generation } = this;
    if (followed === undefined) return this.begin();
    const found = await this.readOn(followed);
    // Begun anew meanwhile: this was read from somewhere else.
    if (generation !== this.generation) return this.answer();
    const first = found?.events[0];
    if (
      found === undefined ||
      (followed.id !== undefined && (first?.id !== followed.id || first.position !== followed.position))
    ) {
      this.timeline += 1;
      this.isRestored = true;
      this.followed = undefined;
      this.forget();
      this.removals.forget();
      return this.begin();
    }
    if (!found.isWhole || found.events.length >= MOST_EVENTS) return this.begin();
    this.take(found);
  }

  /** Follows the log from its end on. Nothing is remembered then. */
  private async begin(): Promise<void> {
    const [end] = (await this.read(wholeRequest('backwards', null, 1))).events;
    const newest = await this.newestShown(end);
    // What is listed from here on is followed.
    await this.removals.learn();
    this.forget();
    this.followed = { position: end?.position ?? null, id: end?.id };
    if (this.isRestored) this.restoredEnd = this.followed.position;
    this.isRestored = false;
    this.newest = newest?.position ?? null;
    this.newestOfOurs = undefined;
    // A later one is after the end, and will be followed.
    const isSince = newest !== undefined && (end === undefined || newest.position > end.position);
    this.tail.reset(isSince ? (end?.position ?? null) : this.newest);
    this.tell();
  }

  /** The last event that is not the server's own; the end of the log where that is long to look for, behind links of projections. */
  private async newestShown(end: StoredEvent | undefined): Promise<StoredEvent | undefined> {
    if (performance.now() < this.searchesAt) return end;
    try {
      return (await this.read(allRequest('backwards', null, 1), SEARCH_MS)).events[0];
    } catch (error) {
      if (serverFault(error).fault !== 'late') throw error;
      this.searchesAt = performance.now() + SEARCH_AGAIN_MS;
      return end;
    }
  }

  private take({ events, foreign }: Found): void {
    const { newestOfOurs: before, passed } = this;
    for (const event of events) {
      // The first was followed before; others by an answer that came between.
      if (this.hasReached(event.position)) continue;
      const { stream, revision, position, id } = event;
      const known = this.ends.get(stream);
      if (known !== undefined) known.revision = Math.max(known.revision, revision);
      else if (this.watched.has(stream)) this.learn(stream, revision, 0);
      this.followed = { position, id };
      if (stream === REMOVALS_STREAM) this.remove(event);
      if (stream.startsWith('$')) continue;
      const writtenAt = foreign.get(event);
      this.tail.add(event, writtenAt);
      this.newest = position;
      if (writtenAt === undefined) this.newestOfOurs = position;
      else this.passed += 1;
    }
    if (this.newestOfOurs !== before || this.passed >= MOST_PASSED) this.tell();
    else if (this.passed > passed) this.onNews(true);
  }

  private tell(): void {
    this.passed = 0;
    this.onNews(false);
  }

  private remove(entry: StoredEvent): void {
    this.removals.take(entry);
    this.tail.empty((event) => this.removals.has(event));
  }

  private learn(stream: string, revision: number, asOf: number): void {
    const known = this.ends.get(stream);
    if (known !== undefined) {
      known.revision = Math.max(known.revision, revision);
      known.asOf = Math.max(known.asOf, asOf);
      return;
    }
    if (this.ends.size >= MOST_STREAMS) this.forget();
    else this.ends.set(stream, { revision, asOf });
  }

  private forget(): void {
    this.generation += 1;
    this.ends = new Map();
  }

  /** Nothing where no event stands at the place that was followed: the log is another. */
  private async readOn({ position }: Followed): Promise<Found | undefined> {
    try {
      return await this.read(wholeRequest('forwards', position, MOST_EVENTS));
    } catch (error) {
      if (serverFault(error).fault === 'invalidPosition') return undefined;
      throw error;
    }
  }

  private async read(request: ReadReq, most?: number): Promise<Found> {
    try {
      return await retry(
        this.connection,
        (left, givenUp) => readFrom(this.connection, request, left, undefined, givenUp),
        most === undefined ? {} : { timeoutMs: most },
      );
    } catch (error) {
      throw allFault(serverFault(error));
    }
  }
}
