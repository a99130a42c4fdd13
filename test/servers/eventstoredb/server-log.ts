import { randomUUID } from 'node:crypto';
import { checkCommit, type Decision } from './commit-check';
import type { Journal } from './journal';
import { type Lag, ShowingQueue } from './lag';
import { type Proposed, recorded, recordSize, TOMBSTONE } from './recorded-event';
import { RepeatMemory } from './repeat-memory';
import { ShownLog } from './shown-log';
import {
  isMetastream,
  isSoftDeleted,
  type LogWrite,
  metastreamOf,
  originalOf,
  parseMetadata,
  type StreamState,
  StreamStates,
} from './stream-state';

/** What an append or a deletion is answered with. */
export type AnsweredOutcome =
  /** `last` is -1 after an append of nothing to a new stream; `position` null where a repeat's event can no longer be read. */
  | { readonly kind: 'success'; readonly last: number; readonly position: number | null }
  | { readonly kind: 'wrongExpectedVersion'; readonly current: number }
  | { readonly kind: 'deleted' };

/** What becomes of an append: a repeat of one that is decided and not shown yet is dropped, and its caller hears of a timeout. */
export type Outcome = AnsweredOutcome | { readonly kind: 'dropped' };

/** Hears what became of it: at once of a refusal or a repeat, of a write when it is shown. */
type Reply<What> = (outcome: What) => void;

/** Bytes of an append that holds no event: it moves the log on and cannot be read. */
const EMPTY_RECORD = 96;

/**
 * The log of the double and the one place that writes it. An append is decided at once, by all that was decided before; it
 * is shown to readers and acknowledged together, after a lag. Refusals run ahead of that, as on a real server.
 */
export class ServerLog {
  /** What readers and subscribers see. */
  readonly shown = new ShownLog();
  private readonly decided = new StreamStates();
  private readonly memory = new RepeatMemory();
  private readonly queue: ShowingQueue;
  /** Position of the next record. */
  private end = 0;

  constructor(
    private readonly journal: Journal | undefined,
    lag: Lag,
  ) {
    this.queue = new ShowingQueue(lag);
    for (const { stream, created, isTombstone, events } of journal?.entries() ?? [])
      this.shown.show([this.decide(stream, events, isTombstone, created)]);
    this.memory.clear();
  }

  /** A new start of the server: repeats are forgotten, and a system event is written, as an election does. */
  start(): void {
    this.showAll();
    this.memory.clear();
    if (this.end === 0) this.writeFirst();
    this.writeNow('$epoch-information', [systemEvent('$EpochInformation', '{}')]);
  }

  append(stream: string, expected: number, events: readonly Proposed[], tell: Reply<Outcome>): void {
    const state = this.decided.of(stream);
    const decision = this.check(state, expected, events);
    if (decision.kind === 'deleted') return tell(decision);
    if (decision.kind === 'wrongExpectedVersion')
      return tell({ kind: 'wrongExpectedVersion', current: state.events.length - 1 });
    if (decision.kind === 'repeat') return tell(this.repeated(stream, decision.last));
    const reopened = isSoftDeleted(state) ? state : isMetastream(stream) ? this.softDeletedOriginal(stream) : undefined;
    const beforeReopening = reopened?.events.length ?? 0;
    const position = this.end;
    const writes = [this.journaled(stream, events)];
    if (reopened !== undefined)
      writes.push(
        this.journaled(metastreamOf(reopened.name), [
          systemEvent('$metadata', JSON.stringify({ ...reopened.metadata, $tb: beforeReopening })),
        ]),
      );
    this.showLater(writes, tell, {
      kind: 'success',
      last: state.events.length - 1,
      position: writes[0]?.records.at(-1)?.position ?? position,
    });
  }

  /** Hides all events until the stream is written again. */
  delete(stream: string, expected: number, tell: Reply<AnsweredOutcome>): void {
    const state = this.decided.of(stream);
    const metastream = this.decided.of(metastreamOf(stream));
    const decision = this.check(state, expected, [{ id: randomUUID() }]);
    if (decision.kind === 'deleted') return tell(decision);
    if (decision.kind !== 'write' || (state.events.length === 0 && metastream.events.length === 0))
      return tell({ kind: 'wrongExpectedVersion', current: state.events.length - 1 });
    this.write(
      metastream.name,
      [systemEvent('$metadata', '{"$tb":9223372036854775807}')],
      tell,
      state.events.length - 1,
    );
  }

  /** Closes the stream's name for ever. */
  tombstone(stream: string, expected: number, tell: Reply<AnsweredOutcome>): void {
    const state = this.decided.of(stream);
    const decision = this.check(state, expected, [{ id: randomUUID() }]);
    if (decision.kind === 'deleted') return tell(decision);
    if (decision.kind !== 'write') return tell({ kind: 'wrongExpectedVersion', current: state.events.length - 1 });
    this.write(stream, [systemEvent('$streamDeleted', '')], tell, TOMBSTONE, true);
  }

  /** Writes that are decided and not shown yet. */
  get waiting(): number {
    return this.queue.length;
  }

  /** Shows and acknowledges all that waits for it. */
  showAll(): void {
    this.queue.flush();
  }

  close(): void {
    this.showAll();
    this.journal?.close();
  }

  private check(state: StreamState, expected: number, events: readonly { readonly id: string }[]): Decision {
    if (isMetastream(state.name) && this.decided.find(originalOf(state.name))?.tombstone !== undefined)
      return { kind: 'deleted' };
    const hasMetadata = (this.decided.find(metastreamOf(state.name))?.events.length ?? 0) > 0;
    const ids = events.map(({ id }) => id);
    return checkCommit(state, expected, hasMetadata, ids, this.memory);
  }

  private repeated(stream: string, last: number): Outcome {
    if (this.shown.lastOf(stream) < last) return { kind: 'dropped' };
    return { kind: 'success', last, position: this.shown.positionOf(stream, last) };
  }

  private softDeletedOriginal(metastream: string): StreamState | undefined {
    const original = this.decided.find(originalOf(metastream));
    return original !== undefined && isSoftDeleted(original) ? original : undefined;
  }

  private writeNow(stream: string, events: readonly Proposed[]): void {
    this.shown.show([this.journaled(stream, events)]);
  }

  private write(
    stream: string,
    events: readonly Proposed[],
    tell: Reply<AnsweredOutcome>,
    last: number,
    isTombstone = false,
  ): void {
    const write = this.journaled(stream, events, isTombstone);
    this.showLater([write], tell, { kind: 'success', last, position: write.records.at(-1)?.position ?? 0 });
  }

  private showLater(writes: readonly LogWrite[], tell: Reply<AnsweredOutcome>, outcome: AnsweredOutcome): void {
    this.queue.add(() => {
      this.shown.show(writes);
      tell(outcome);
    });
  }

  private journaled(stream: string, events: readonly Proposed[], isTombstone = false): LogWrite {
    const created = Date.now();
    this.journal?.add({ stream, created, isTombstone, events });
    return this.decide(stream, events, isTombstone, created);
  }

  /** What is decided counts for the next decision; it may not be shown yet. */
  private decide(stream: string, events: readonly Proposed[], isTombstone: boolean, created: number): LogWrite {
    const { length } = this.decided.of(stream).events;
    const records = events.map((event, index) => {
      const record = recorded(stream, isTombstone ? TOMBSTONE : length + index, this.end, created, event);
      this.memory.put(event.id, { stream, revision: record.revision });
      this.end += recordSize(stream, event);
      return record;
    });
    if (records.length === 0) this.end += EMPTY_RECORD;
    const metadata =
      isMetastream(stream) && records.length > 0 ? parseMetadata(events.at(-1)?.data ?? new Uint8Array()) : undefined;
    const write: LogWrite = { stream, records, isTombstone, metadata, end: this.end };
    this.decided.take(write);
    return write;
  }

  /** Some of what a server writes before anyone uses it, so that `$all` never begins with one's own events. */
  private writeFirst(): void {
    // No event stands at position 0 on a server.
    this.writeNow('$epoch-information', []);
    this.writeNow(metastreamOf('$stats-127.0.0.1:2113'), [systemEvent('$metadata', '{"$maxAge":86400}')]);
    this.writeNow('$user-admin', [
      systemEvent('$UserCreated', '{"loginName":"admin","fullName":"Event Store Administrator","groups":["$admins"]}'),
    ]);
    this.writeNow('$users', [systemEvent('$User', 'admin')]);
  }
}

const systemEvent = (type: string, data: string): Proposed => ({
  id: randomUUID(),
  type,
  isJson: true,
  data: Buffer.from(data),
  metadata: Buffer.alloc(0),
});
