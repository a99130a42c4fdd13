import type { AppendResult } from '@app/kernel';
import type { AppendedRound } from '../catch-up-subscription';
import { BatchedWake } from '../batched-wake';
import { isRemoved, storedEvent } from './event-row';
import { type EventTable, rowsAfter } from './event-table';
import type { WriterEvents } from './log-writer';
import { PassedEvents } from './passed-events';
import { positionText } from './positions';
import { RecentEvents } from './recent-events';
import type { AppendRequest } from './writer-protocol';

/** Remember the ends of this many streams, then forget all. Each one that is used again costs a read. */
const MOST_ENDS = 50_000;
/**
 * The state of the log in this process: the acknowledged end, the newest events and the ends of streams. Readers of
 * this process see nothing beyond `head`, so the known end of a stream is never behind what a subscription has shown.
 */
export class KnownLog implements WriterEvents {
  readonly recent = new RecentEvents();
  readonly passed = new PassedEvents();
  private last = 0;
  private indexed = 0;
  private table: EventTable | undefined;
  /** Why the newest events are unknown. */
  private fault: { readonly cause: unknown } | undefined;
  private readonly ends = new Map<string, number>();
  private readonly listeners = new Set<(round: AppendedRound | undefined) => void>();
  /** The end of the log when listeners were last notified, and the types of the events since; undefined if unknown. */
  private told = 0;
  private since: Set<string> | undefined;
  private readonly waking = new BatchedWake(() => this.tell());

  /** The last acknowledged position; 0 for an empty log. Throws while the newest events are unknown. */
  get head(): number {
    if (this.fault !== undefined) throw this.fault.cause;
    return this.last;
  }

  /** Reads what the index of streams lacks, at each opening of the log. Throws `LogCorrupted`. */
  readFrom(table: EventTable): void {
    this.table = table;
    this.passed.clear();
    this.recent.clear(this.indexed);
    for (const row of rowsAfter(table, this.indexed, this.last))
      this.recent.add(isRemoved(row) ? undefined : storedEvent(row));
  }

  /** No event of the stream is beyond this revision; undefined if unknown. */
  endOf(stream: string): number | undefined {
    return this.ends.get(stream);
  }

  learnEnd(stream: string, revision: number): void {
    if (this.ends.size >= MOST_ENDS) this.ends.clear();
    this.ends.set(stream, revision);
  }

  /** Calls `listener` after each commit, or several of them, with what was appended where that is known. Returns a function that stops it. */
  listen(listener: (round: AppendedRound | undefined) => void): () => void {
    const own = (round: AppendedRound | undefined): void => listener(round);
    this.listeners.add(own);
    return () => this.listeners.delete(own);
  }

  onUp(head: number, indexed: number): void {
    this.last = head;
    this.indexed = indexed;
    this.ends.clear();
    this.since = undefined;
    this.fault = undefined;
    try {
      if (this.table !== undefined) this.readFrom(this.table);
    } catch (cause) {
      this.fault = { cause };
    }
    this.onCommitted();
  }

  onAppended({ stream, events }: AppendRequest, position: number, revision: number): AppendResult {
    let back = events.length;
    let at = '';
    for (const { id, type, data, metadata } of events) {
      back -= 1;
      at = positionText(position - back);
      this.recent.add({ position: at, stream, revision: revision - back, id, type, data, metadata });
      this.since?.add(type);
    }
    this.last = position;
    this.learnEnd(stream, revision);
    return { position: at, revision };
  }

  onIndexed(upTo: number): void {
    this.indexed = upTo;
    this.recent.shrink(upTo);
  }

  onWrongRevision(stream: string, actual: number): void {
    if (actual >= 0) this.learnEnd(stream, actual);
    else this.ends.delete(stream);
  }

  onRemoved(stream: string, before: number): void {
    this.recent.remove(stream, before);
    this.passed.clear();
  }

  onCommitted(): void {
    this.waking.onAppended();
  }

  /** Notifies subscribers at once, without gathering commits, because somebody waits for them. */
  deliverNow(): void {
    this.waking.wakeNow();
  }

  private tell(): void {
    const round = this.since && { after: positionText(this.told), upTo: positionText(this.last), types: this.since };
    this.told = this.last;
    this.since = new Set();
    for (const listener of this.listeners) listener(round);
  }
}
