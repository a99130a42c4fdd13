import { randomUUID } from 'node:crypto';
import { ANY, checkCommit } from './commit-check';
import type { Journal } from './journal';
import { type Proposed, type Recorded, recorded, recordSize, TOMBSTONE } from './recorded-event';
import { RepeatMemory } from './repeat-memory';
import { firstReadable, isMetastream, isSoftDeleted, metastreamOf, originalOf, parseMetadata, type StreamState } from './stream-state';

/** What became of an append or a deletion. */
export type Outcome =
  /** `last` is -1 after an append of nothing to a new stream; `position` null where a repeat's event can no longer be read. */
  | { readonly kind: 'success'; readonly last: number; readonly position: number | null }
  | { readonly kind: 'wrongExpectedVersion'; readonly current: number }
  | { readonly kind: 'deleted' };

/** Bytes of an append that holds no event: it moves the log on and cannot be read. */
const EMPTY_RECORD = 96;

/** The log of the double and the one place that writes it. */
export class ServerLog {
  /** In order of their positions. */
  readonly records: Recorded[] = [];
  /** Position of the next record. */
  end = 0;
  /** Called after each write. */
  readonly watchers = new Set<() => void>();
  private readonly streams = new Map<string, StreamState>();
  private readonly emptyRecords = new Set<number>();
  private readonly memory = new RepeatMemory();

  constructor(private readonly journal: Journal | undefined) {
    for (const { stream, created, isTombstone, events } of journal?.entries() ?? []) this.store(this.stateOf(stream), events, isTombstone, created);
    this.memory.clear();
  }

  /** A new start of the server: repeats are forgotten, and a system event is written, as an election does. */
  start(): void {
    this.memory.clear();
    if (this.end === 0) this.writeFirst();
    this.write(this.stateOf('$epoch-information'), [systemEvent('$EpochInformation', '{}')]);
  }

  append(stream: string, expected: number, events: readonly Proposed[]): Outcome {
    const state = this.stateOf(stream);
    const decision = this.check(state, expected, events);
    if (decision.kind === 'deleted') return decision;
    if (decision.kind === 'wrongExpectedVersion') return { kind: 'wrongExpectedVersion', current: state.events.length - 1 };
    if (decision.kind === 'repeat') return { kind: 'success', last: decision.last, position: this.readablePosition(state, decision.last) };
    const reopened = isSoftDeleted(state) ? state : isMetastream(stream) ? this.softDeletedOriginal(stream) : undefined;
    const beforeReopening = reopened?.events.length ?? 0;
    const position = this.write(state, events);
    if (reopened !== undefined) this.reopen(reopened, beforeReopening);
    return { kind: 'success', last: state.events.length - 1, position };
  }

  /** Hides all events until the stream is written again. */
  delete(stream: string, expected: number): Outcome {
    const state = this.stateOf(stream);
    const metastream = this.stateOf(metastreamOf(stream));
    const decision = this.check(state, expected, [{ id: randomUUID() }]);
    if (decision.kind === 'deleted') return decision;
    if (decision.kind !== 'write' || (state.events.length === 0 && metastream.events.length === 0)) return { kind: 'wrongExpectedVersion', current: state.events.length - 1 };
    const position = this.write(metastream, [systemEvent('$metadata', '{"$tb":9223372036854775807}')]);
    return { kind: 'success', last: state.events.length - 1, position };
  }

  /** Closes the stream's name for ever. */
  tombstone(stream: string, expected: number): Outcome {
    const state = this.stateOf(stream);
    const decision = this.check(state, expected, [{ id: randomUUID() }]);
    if (decision.kind === 'deleted') return decision;
    if (decision.kind !== 'write') return { kind: 'wrongExpectedVersion', current: state.events.length - 1 };
    const position = this.write(state, [systemEvent('$streamDeleted', '')], true);
    return { kind: 'success', last: TOMBSTONE, position };
  }

  /** What readers see of a stream: nothing of it, or its readable events in order with what closed it. */
  look(stream: string): { readonly kind: 'notFound' } | { readonly kind: 'tombstoned'; readonly event: Recorded | undefined } | { readonly kind: 'events'; readonly first: number; readonly events: readonly Recorded[] } {
    const state = this.streams.get(stream);
    const closed = isMetastream(stream) ? this.streams.get(originalOf(stream))?.tombstone : state?.tombstone;
    if (closed !== undefined) return { kind: 'tombstoned', event: state?.tombstone };
    if (state === undefined || state.events.length === 0 || isSoftDeleted(state)) return { kind: 'notFound' };
    return { kind: 'events', first: this.first(state), events: state.events };
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

  /** False for a position inside a record: the server refuses to read there. */
  isRecordStart(position: number): boolean {
    return position === 0 || position >= this.end || this.emptyRecords.has(position) || this.records[this.indexFrom(position)]?.position === position;
  }

  close(): void {
    this.journal?.close();
  }

  private check(state: StreamState, expected: number, events: readonly { readonly id: string }[]) {
    if (isMetastream(state.name) && this.streams.get(originalOf(state.name))?.tombstone !== undefined) return { kind: 'deleted' } as const;
    const hasMetadata = (this.streams.get(metastreamOf(state.name))?.events.length ?? 0) > 0;
    const ids = events.map(({ id }) => id);
    return checkCommit(state, expected, hasMetadata, ids, this.memory);
  }

  private stateOf(name: string): StreamState {
    const known = this.streams.get(name);
    if (known !== undefined) return known;
    const created: StreamState = { name, events: [], metadata: {}, tombstone: undefined };
    this.streams.set(name, created);
    return created;
  }

  private first(state: StreamState): number {
    return firstReadable(state, Date.now());
  }

  private readablePosition(state: StreamState, revision: number): number | null {
    return revision < this.first(state) ? null : (state.events[revision]?.position ?? null);
  }

  private softDeletedOriginal(metastream: string): StreamState | undefined {
    const original = this.streams.get(originalOf(metastream));
    return original !== undefined && isSoftDeleted(original) ? original : undefined;
  }

  private reopen(state: StreamState, from: number): void {
    this.write(this.stateOf(metastreamOf(state.name)), [systemEvent('$metadata', JSON.stringify({ ...state.metadata, $tb: from }))]);
  }

  private write(state: StreamState, events: readonly Proposed[], isTombstone = false): number {
    const created = Date.now();
    this.journal?.add({ stream: state.name, created, isTombstone, events });
    const position = this.store(state, events, isTombstone, created);
    for (const wake of this.watchers) wake();
    return position;
  }

  /** Position of the last record stored. */
  private store(state: StreamState, events: readonly Proposed[], isTombstone: boolean, created: number): number {
    if (events.length === 0) {
      this.emptyRecords.add(this.end);
      this.end += EMPTY_RECORD;
      return this.end - EMPTY_RECORD;
    }
    for (const event of events) {
      const entry = recorded(state.name, isTombstone ? TOMBSTONE : state.events.length, this.end, created, event);
      if (isTombstone) state.tombstone = entry;
      else state.events.push(entry);
      this.records.push(entry);
      this.memory.put(event.id, { stream: state.name, revision: entry.revision });
      this.end += recordSize(state.name, event);
    }
    if (isMetastream(state.name)) this.stateOf(originalOf(state.name)).metadata = parseMetadata(events.at(-1)?.data ?? new Uint8Array());
    return this.records.at(-1)?.position ?? 0;
  }

  /** Some of what a server writes before anyone uses it, so that `$all` never begins with one's own events. */
  private writeFirst(): void {
    // No event stands at position 0 on a server.
    this.write(this.stateOf('$epoch-information'), []);
    this.append(metastreamOf('$stats-127.0.0.1:2113'), ANY, [systemEvent('$metadata', '{"$maxAge":86400}')]);
    this.append('$user-admin', ANY, [systemEvent('$UserCreated', '{"loginName":"admin","fullName":"Event Store Administrator","groups":["$admins"]}')]);
    this.append('$users', ANY, [systemEvent('$User', 'admin')]);
  }
}

const systemEvent = (type: string, data: string): Proposed => ({ id: randomUUID(), type, isJson: true, data: Buffer.from(data), metadata: Buffer.alloc(0) });
