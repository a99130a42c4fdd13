import type { Recorded } from './recorded-event';
import { firstReadable, isMetastream, isSoftDeleted, type LogWrite, originalOf, StreamStates } from './stream-state';

/** What readers see of a stream: nothing of it, or its readable events in order with what closed it. */
export type Look =
  | { readonly kind: 'notFound' }
  | { readonly kind: 'tombstoned'; readonly event: Recorded | undefined }
  | { readonly kind: 'events'; readonly first: number; readonly events: readonly Recorded[] };

/** The log as far as readers and subscribers see it: behind what is decided by the lag of the last writes. */
export class ShownLog {
  /** In order of their positions. */
  readonly records: Recorded[] = [];
  /** Position of the next record. */
  end = 0;
  /** Called after each write was shown. */
  readonly watchers = new Set<() => void>();
  private readonly streams = new StreamStates();
  private readonly emptyRecords = new Set<number>();

  show(writes: readonly LogWrite[]): void {
    for (const write of writes) {
      if (write.records.length === 0) this.emptyRecords.add(this.end);
      this.streams.take(write);
      this.records.push(...write.records);
      this.end = write.end;
    }
    for (const wake of this.watchers) wake();
  }

  look(stream: string): Look {
    const state = this.streams.find(stream);
    const closed = isMetastream(stream) ? this.streams.find(originalOf(stream))?.tombstone : state?.tombstone;
    if (closed !== undefined) return { kind: 'tombstoned', event: state?.tombstone };
    if (state === undefined || state.events.length === 0 || isSoftDeleted(state)) return { kind: 'notFound' };
    return { kind: 'events', first: firstReadable(state, Date.now()), events: state.events };
  }

  /** Revision of the last event of a stream, removed ones too; -1 for none. */
  lastOf(stream: string): number {
    return (this.streams.find(stream)?.events.length ?? 0) - 1;
  }

  /** Where an event stands; null where it cannot be read. */
  positionOf(stream: string, revision: number): number | null {
    const state = this.streams.find(stream);
    if (state === undefined || revision < firstReadable(state, Date.now())) return null;
    return state.events[revision]?.position ?? null;
  }

  /** Index of the first record at or after a position; their number when there is none. */
  indexFrom(position: number): number {
    let low = 0;
    let high = this.records.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.records[middle]?.position ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** False for a position inside a record: the server rejects to read there. */
  isRecordStart(position: number): boolean {
    return (
      position === 0 ||
      position >= this.end ||
      this.emptyRecords.has(position) ||
      this.records[this.indexFrom(position)]?.position === position
    );
  }
}
