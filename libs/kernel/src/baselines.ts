import { Map as PersistentMap } from 'immutable';
import type { Decider } from './decider';
import type { EventCodec } from './event-codec';
import type { AnyEvent } from './event-definition';
import type { AppendResult, NewEvent, StoredEvent } from './log-records';
import type { EventContext, RecordedEvent } from './recorded-event';
import { REMEMBERED, SharedLruCache } from './shared-lru-cache';
import { sizeOf } from './size-of';
import type { Snapshots } from './snapshots';
import type { Receipt } from './command-meta';

/** How long a repeated command id is answered with its first receipt (wire, `Idempotency-Key`). */
const REMEMBERED_MS = 24 * 60 * 60 * 1000;
/** How often those that are older are forgotten. */
const FORGET_MS = 60 * 60 * 1000;
/** Keep at most this many characters of our own events to fold later. Larger ones are read again when needed. */
const MOST_OWN = 16 * 1024;
/** Characters that a baseline, and each command in it, takes beside the state. */
const OVERHEAD = 500;
const OF_COMMAND = 300;
/**
 * Measure a state again once the events folded since weigh as much as the state plus this, in characters. So measuring
 * costs less than folding.
 */
const UNMEASURED = 16 * 1024;

/** A folded stream: its state and its revision, which is -1 for a stream without events. */
export interface Loaded<State> {
  readonly state: State;
  readonly revision: number;
  readonly position: string | null;
}

/** The last known state of a stream, with its revision and recent command ids. */
export interface Baseline<State = unknown> extends Loaded<State> {
  readonly decider: unknown;
  readonly commands: KnownCommands;
  /** When old commands were forgotten last, by the times of the events. */
  readonly forgottenAt: number;
  /** What this process appended since, as the log acknowledged it. */
  readonly own: readonly StoredEvent[];
  /** Of the log that it was read from. */
  readonly timeline: number | undefined;
  /** Approximate upper bound in characters: `measured` plus what was folded since. */
  readonly size: number;
  readonly measured: number;
  /** Up to which revision there is a snapshot; -1 without one. */
  readonly savedAt: number;
  /** When the log last said that there is nothing newer, by this process's steady clock. */
  readAt: number;
}

/** The streams that were folded last. A baseline is a cache, never the truth: it counts only if the log has nothing newer. */
export class Baselines {
  private readonly cache = new SharedLruCache<string, Baseline>(REMEMBERED, weightOf);

  constructor(
    private readonly codec: EventCodec,
    private readonly snapshots: Snapshots | undefined,
  ) {}

  /** Undefined if none is remembered, or only one of another decider or timeline. */
  find<State, Command, Event extends AnyEvent>(
    decider: Decider<State, Command, Event>,
    stream: string,
    timeline: number | undefined,
  ): Baseline<State> | undefined {
    const cached = this.cache.get(stream);
    return cached?.decider === decider && cached.timeline === timeline ? (cached as Baseline<State>) : undefined;
  }

  /** Folds what came after a baseline, and remembers the result. */
  async fold<State, Command, Event extends AnyEvent>(
    decider: Decider<State, Command, Event>,
    stream: string,
    start: Baseline<State>,
    stored: readonly StoredEvent[],
  ): Promise<Baseline<State>> {
    if (stored.length === 0) return start;
    const events = (await this.codec.decode(stored, decider.withoutContent)) as RecordedEvent<Event>[];
    const last = (events.at(-1) as RecordedEvent<Event>).context;
    const added = start.commands.withMutations((known) => events.forEach(({ context }) => remember(known, context)));
    const now = Date.parse(last.recordedAt);
    const isDue = now - start.forgottenAt > FORGET_MS;
    const commands = isDue ? added.filter(({ at }) => at >= now - REMEMBERED_MS) : added;
    const state = events.reduce((sum, event) => decider.evolve(sum, event), start.state);
    const size = start.size + charactersOf(stored);
    const measured = size > 2 * start.measured + UNMEASURED ? sizeOf(state) : undefined;
    const folded: Baseline<State> = {
      ...start,
      state,
      revision: last.revision,
      position: last.position,
      commands,
      forgottenAt: isDue ? now : start.forgottenAt,
      own: NONE,
      size: measured ?? size,
      measured: measured ?? start.measured,
    };
    const savedAt = this.snapshots?.keep(decider, stream, folded, last.id) ?? start.savedAt;
    const next = { ...folded, savedAt };
    this.cache.set(stream, next);
    return next;
  }

  /**
   * Remembers events that were appended after a baseline. Nobody else can have appended in between, so the next load
   * need not read them.
   */
  keep(stream: string, baseline: Baseline, events: readonly NewEvent[], { position, revision }: AppendResult): void {
    const cached = this.cache.get(stream);
    // Another caller moved it on meanwhile, or it was forgotten.
    if (cached !== (baseline.revision < 0 ? undefined : baseline) || revision !== baseline.revision + events.length)
      return;
    if (charactersOf(events) > MOST_OWN) return;
    // Only the position of the last one is known, and only that is needed.
    const own = events.map((event, index): StoredEvent => ({
      ...event,
      stream,
      revision: baseline.revision + 1 + index,
      position,
    }));
    this.cache.set(stream, { ...baseline, own });
  }

  forget(stream: string): void {
    this.cache.delete(stream);
  }
}

/** The baseline of an unknown stream. */
export const beginning = <State, Command, Event extends AnyEvent>(
  decider: Decider<State, Command, Event>,
  timeline: number | undefined,
): Baseline<State> => ({
  decider,
  state: decider.initial,
  revision: -1,
  position: null,
  commands: PersistentMap(),
  forgottenAt: 0,
  own: NONE,
  timeline,
  size: 0,
  measured: 0,
  savedAt: -1,
  readAt: 0,
});

/** Revision of the last known event, folded or not. */
export const endOf = ({ own, revision }: Pick<Baseline, 'own' | 'revision'>): number =>
  own.at(-1)?.revision ?? revision;

const NONE: readonly StoredEvent[] = [];

const charactersOf = (events: readonly NewEvent[]): number =>
  events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0);

const weightOf = ({ size, commands, own }: Baseline): number =>
  OVERHEAD + size + commands.size * OF_COMMAND + charactersOf(own);

/** What a command came to. */
export interface KnownCommand {
  readonly receipt: Receipt;
  readonly hash: string | undefined;
  /** When, milliseconds. */
  readonly at: number;
}

/** The results of commands, by command id. Persistent: a busy stream has thousands in a day, and each append adds one. */
export type KnownCommands = PersistentMap<string, KnownCommand>;

/** Adds the command of an event. */
const remember = (commands: KnownCommands, { commandId, commandHash, recordedAt, ...context }: EventContext): void => {
  const eventIds = [...(commands.get(commandId)?.receipt.eventIds ?? []), context.id];
  const receipt: Receipt = {
    stream: context.stream,
    position: context.position,
    revision: context.revision,
    eventIds,
    repeated: false,
  };
  commands.set(commandId, { receipt, hash: commandHash, at: Date.parse(recordedAt) });
};
