import { type Baseline, Baselines, beginning, endOf, type Loaded } from './baselines';
import type { CommandMeta, Receipt } from './command-meta';
import { inTime } from './time-limits';
import { streamOf, type Decider } from './decider';
import { DomainError, isDomainError, isUnavailable, reject } from './errors';
import type { EventCodec } from './event-codec';
import type { AnyEvent } from './event-definition';
import { isWrongExpectedRevision, type StreamLog } from './log-records';
import { LogOutage } from './log-outage';
import { Queues } from './concurrency';
import type { RecordedEvent } from './recorded-event';
import { retryLostRaces, LINE_MS } from './race';
import { SNAPSHOT_EVENTS, Snapshots, type SnapshotStore } from './snapshots';
import { RECALL_AFTER_MS, waitBudget, waiting } from './wait-budget';

/** Maximum attempts of a writer that should be the only one. It gives way if it loses every time. */
export const MAX_ATTEMPTS = 3;
/** Serve an aggregate from memory for this long while the log is away or slow. */
const RECALLED_MS = 5 * 60 * 1000;

/**
 * The only writer of domain events. The cache is a baseline, never the truth: it counts only if the log, asked after the
 * work began, has nothing newer. The expected revision is always sent, so a stale baseline costs a read and nothing else.
 *
 * Five others append themselves, and lint (`no-restricted-properties`) rejects a sixth. What they write decides on no command
 * of a user, and their streams cannot be folded from the first event on (docs/decisions/commands.md says why of each):
 * accounts of limits and usage records (`retryAppend`), the journal of policies (`PolicyJournal`), seals (`Sealer`), what
 * the sealer found unproven (`recordUnproven`), and imports (`ImportAppender`).
 */
export class Decisions {
  private readonly baselines: Baselines;
  private readonly queues = new Queues();
  private readonly outage: LogOutage;
  private readonly alsoForget: ((stream: string) => void)[] = [];
  private readonly snapshots: Snapshots | undefined;

  constructor(
    private readonly log: StreamLog,
    private readonly codec: EventCodec,
    snapshots?: SnapshotStore,
  ) {
    this.snapshots = snapshots && new Snapshots(snapshots);
    this.baselines = new Baselines(codec, this.snapshots);
    this.outage = new LogOutage(log, RECALLED_MS);
  }

  /**
   * Decides a command on the aggregate `id` and appends its events. A command id that the stream knows returns its first
   * receipt and decides nothing. Throws the decider's rejection, `DomainError` `precondition_failed`, `idempotency_key_reused`
   * or, if other processes are faster for five seconds, or the line of this one is longer than eight, `conflict`; `Unavailable`
   * if the log is.
   */
  async transact<State, Command, Event extends AnyEvent>(
    decider: Decider<State, Command, Event>,
    id: string,
    command: Command,
    meta: CommandMeta,
  ): Promise<Receipt> {
    const stream = streamOf(decider.category, id);
    const latest = performance.now() + LINE_MS;
    const attempt = () =>
      this.attempt(decider, stream, command, meta).catch((error: unknown) => {
        throw namedAs(error, decider.category, id);
      });
    // Losers of this process take turns. Otherwise each would race with all others for every revision.
    return (
      (await attempt()) ??
      waiting(LINE_MS, (milliseconds) =>
        this.queues.run(stream, milliseconds, () => retryLostRaces(attempt, stream, latest)),
      )
    );
  }

  /** Folds an aggregate's stream up to now. Answers without a turn of the event loop if nothing has to be read. */
  load<State, Command, Event extends AnyEvent>(
    decider: Decider<State, Command, Event>,
    id: string,
  ): Loaded<State> | Promise<Loaded<State>> {
    return this.latest(decider, id) ?? this.advance(decider, streamOf(decider.category, id));
  }

  /** An aggregate as it was at a revision, read from the log. Undefined if it has no such event. */
  async loadAt<State, Command, Event extends AnyEvent>(
    decider: Decider<State, Command, Event>,
    id: string,
    revision: number,
  ): Promise<State | undefined> {
    const stored = await this.log.readStream(streamOf(decider.category, id), { limit: revision + 1 });
    if (stored.at(-1)?.revision !== revision) return undefined;
    const events = (await this.codec.decode(stored, decider.withoutContent)) as RecordedEvent<Event>[];
    return events.reduce((folded, event) => decider.evolve(folded, event), decider.initial);
  }

  /**
   * As `load`, for reads only: while the log is away, or has not answered for 2 s, answers the aggregate as it was last read,
   * within the last five minutes. Only the first caller waits for such a log. After that it is asked in the background until it
   * answers, even if nobody reads. A request that writes waits as for `load`: nothing is decided from memory.
   */
  recall<State, Command, Event extends AnyEvent>(
    decider: Decider<State, Command, Event>,
    id: string,
  ): Loaded<State> | Promise<Loaded<State>> {
    const after = recallAfter();
    return (
      this.latest(decider, id) ?? (after === undefined ? this.load(decider, id) : this.loadOrRecall(decider, id, after))
    );
  }

  /** True if nothing can have happened to an aggregate after a revision; false means unknown. Costs no turn of the event loop. */
  isLatest(stream: string, revision: number): boolean {
    const end = this.log.endOf?.(stream);
    return end !== undefined && end <= revision;
  }

  /** As `isLatest`, by asking the log. While the log is away or slow, `mayRecall` answers false, for callers who continue with `recall`; otherwise it waits and throws `Unavailable`. */
  async confirm(stream: string, revision: number, mayRecall: boolean): Promise<boolean> {
    if (this.log.readIndex === undefined || (mayRecall && this.outage.isOngoing)) return false;
    const after = mayRecall ? recallAfter() : undefined;
    try {
      const asked = this.log.readIndex.confirm(stream, revision);
      const isConfirmed = await (after === undefined ? asked : inTime(after, asked));
      // It may be denied unasked.
      if (isConfirmed === true) this.outage.end();
      else if (isConfirmed === undefined && (after ?? 0) >= RECALL_AFTER_MS) this.outage.begin(stream);
      return isConfirmed ?? false;
    } catch (error) {
      if (!mayRecall || !isUnavailable(error)) throw error;
      this.outage.begin(stream);
      return false;
    }
  }

  /** What was derived from the log is valid as long as this does not change: see `ReadIndex`. */
  get timeline(): number | undefined {
    return this.log.readIndex?.timeline;
  }

  /** Forgets a stream, in all caches of the process: erasure must reach memory too. */
  forget(stream: string): void {
    this.baselines.forget(stream);
    for (const forget of this.alsoForget) forget(stream);
  }

  /** Tells a memory of each stream that it must forget. */
  onForget(forget: (stream: string) => void): void {
    this.alsoForget.push(forget);
  }

  /** Undefined if another writer was faster. */
  private async attempt<State, Command, Event extends AnyEvent>(
    decider: Decider<State, Command, Event>,
    stream: string,
    command: Command,
    meta: CommandMeta,
  ): Promise<Receipt | undefined> {
    const baseline = await this.advance(decider, stream);
    const known = baseline.commands.get(meta.commandId);
    if (known !== undefined)
      return known.hash === meta.commandHash ? { ...known.receipt, repeated: true } : reject('idempotency_key_reused');
    if (meta.ifRevision !== undefined && meta.ifRevision !== baseline.revision) {
      return reject('precondition_failed', { expected: meta.ifRevision, actual: baseline.revision });
    }
    const events = decider.decide(command, baseline.state as State);
    if (events.length === 0)
      return { stream, position: baseline.position ?? '', revision: baseline.revision, eventIds: [], repeated: false };
    try {
      const receipt = await this.append(decider, stream, baseline, events, meta);
      if (meta.progress !== undefined) meta.progress.hasWritten = true;
      return receipt;
    } catch (error) {
      if (isWrongExpectedRevision(error)) return undefined;
      if (meta.progress !== undefined && isUnavailable(error) && error.outcome === 'unknown')
        meta.progress.hasWritten = true;
      throw error;
    }
  }

  private async loadOrRecall<State, Command, Event extends AnyEvent>(
    decider: Decider<State, Command, Event>,
    id: string,
    after: number,
  ): Promise<Loaded<State>> {
    const stream = streamOf(decider.category, id);
    const recalled = this.baselines.find(decider, stream, this.timeline);
    if (recalled === undefined || performance.now() - this.knownAt(stream, recalled) > RECALLED_MS)
      return this.load(decider, id);
    if (this.outage.isOngoing) {
      void this.outage.probe(stream);
      return this.baselines.fold(decider, stream, recalled, recalled.own);
    }
    try {
      const loaded = await inTime(after, Promise.resolve(this.load(decider, id)));
      if (loaded !== undefined) return loaded;
      if (after >= RECALL_AFTER_MS) this.outage.begin(stream);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      this.outage.begin(stream);
    }
    return this.baselines.fold(decider, stream, recalled, recalled.own);
  }

  /** When a baseline was last known to be the latest. */
  private knownAt(stream: string, baseline: Baseline): number {
    const last = this.log.readIndex?.lastEndOf(stream);
    return last !== undefined && last.revision <= endOf(baseline)
      ? Math.max(last.askedAt, baseline.readAt)
      : baseline.readAt;
  }

  private async append<State, Command, Event extends AnyEvent>(
    decider: Decider<State, Command, Event>,
    stream: string,
    baseline: Baseline,
    events: readonly Event[],
    meta: CommandMeta,
  ): Promise<Receipt> {
    const owner = decider.owner?.(events[0] as Event) ?? {};
    const encoded = await this.codec.encode(stream, events, meta, owner);
    const result = await this.log.append(stream, encoded, baseline.revision < 0 ? 'noStream' : baseline.revision);
    this.baselines.keep(stream, baseline, encoded, result);
    return {
      stream,
      position: result.position,
      revision: result.revision,
      eventIds: encoded.map((event) => event.id),
      repeated: false,
    };
  }

  private latest<State, Command, Event extends AnyEvent>(
    decider: Decider<State, Command, Event>,
    id: string,
  ): Loaded<State> | undefined {
    const stream = streamOf(decider.category, id);
    const known = this.baselines.find(decider, stream, this.timeline);
    if ((known !== undefined && known.own.length > 0) || !this.isLatest(stream, known?.revision ?? -1))
      return undefined;
    return known ?? { state: decider.initial, revision: -1, position: null };
  }

  /** What a process before this one folded of a long stream, if the log has what it was folded from. */
  private async fromSnapshot<State, Command, Event extends AnyEvent>(
    decider: Decider<State, Command, Event>,
    stream: string,
    timeline: number | undefined,
  ): Promise<Baseline<State> | undefined> {
    if (this.snapshots === undefined || this.isLatest(stream, SNAPSHOT_EVENTS)) return undefined;
    const found = await this.snapshots.find(decider, stream);
    if (found === undefined) return undefined;
    const [last] = await this.log.readStream(stream, { from: found.baseline.revision, limit: 1 });
    return last?.id === found.eventId ? { ...beginning(decider, timeline), ...found.baseline } : undefined;
  }

  /** Reads what came after the baseline and folds it in. */
  private async advance<State, Command, Event extends AnyEvent>(
    decider: Decider<State, Command, Event>,
    stream: string,
  ): Promise<Baseline<State>> {
    for (;;) {
      const { timeline } = this;
      const start =
        this.baselines.find(decider, stream, timeline) ??
        (await this.fromSnapshot(decider, stream, timeline)) ??
        beginning(decider, timeline);
      const end = endOf(start);
      const isKnown = this.isLatest(stream, end) || (await this.confirm(stream, end, false));
      const news = isKnown ? start.own : await this.log.readStream(stream, { from: start.revision + 1 });
      if (timeline !== this.timeline) continue;
      if (!isKnown) this.outage.end();
      start.readAt = performance.now();
      return this.baselines.fold(decider, stream, start, news);
    }
  }
}

/** Names the aggregate in `not_found`, unless the error names something else: deciders, and destroyed keys, do not know it. */
const namedAs = (error: unknown, kind: string, id: string): unknown =>
  isDomainError(error, 'not_found') ? new DomainError(error.code, { kind, id, ...error.facts }) : error;

/** Milliseconds after which the present work may continue from memory; undefined if it must not. */
const recallAfter = (): number | undefined => {
  const budget = waitBudget();
  return budget === undefined ? RECALL_AFTER_MS : budget.recallAfter;
};
