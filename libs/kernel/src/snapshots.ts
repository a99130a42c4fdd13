import { Map as PersistentMap } from 'immutable';
import type { Baseline, KnownCommand } from './baselines';
import type { Json, Plain } from './canonical-json';
import type { Receipt } from './command-meta';
import type { Decider } from './decider';
import type { AnyEvent } from './event-definition';
import { eventId, type Uuid } from './ids';

/** Minimum events between two snapshots of a stream. Shorter streams have none. */
export const SNAPSHOT_EVENTS = 500;
/** A snapshot follows when the stream has grown by this share, so that writing them costs less than what they save. */
const GROWTH = 1 / 8;

/** The store of snapshots: JSON by key. It may lose them. */
export interface SnapshotStore {
  readState(key: string): Promise<Json | undefined>;
  writeState(key: string, value: Json | null): Promise<boolean>;
}

/** Converts the state of a decider to a snapshot and back. It must contain no content: snapshots are not erased. */
export interface SnapshotFormat<State> {
  /** Raise it when `save` or `evolve` changes: snapshots of other versions are not read. */
  readonly version: number;
  /** Undefined for a state that cannot be kept at this moment. */
  save(state: State): Json | undefined;
  restore(saved: Json): State;
}

type Known = readonly [string, KnownCommand];

/** A command in a snapshot: its id, how many events it had, where the last one stands, when, and its hash. */
type SavedCommand = readonly [string, number, number, string, number, string | null];

interface Saved {
  readonly version: number;
  /** The last event that is folded in: the snapshot counts only if the log has that event there. */
  readonly eventId: string;
  readonly revision: number;
  readonly position: string | null;
  readonly size: number;
  readonly commands: readonly SavedCommand[];
  readonly state: Json;
}

/** Snapshots of long streams, so that a restarted process need not read them whole. A cache, never the truth. */
export class Snapshots {
  constructor(private readonly store: SnapshotStore) {}

  /** The last snapshot of a stream, with the id of its last event. */
  async find<State, Command, Event extends AnyEvent>(
    { snapshot }: Decider<State, Command, Event>,
    stream: string,
  ): Promise<{ readonly eventId: string; readonly baseline: SnapshotBaseline<State> } | undefined> {
    if (snapshot === undefined) return undefined;
    const saved = (await this.store.readState(keyOf(stream))) as Saved | null | undefined;
    if (saved === undefined || saved === null || saved.version !== snapshot.version) return undefined;
    const { revision, position, size } = saved;
    const commands = PersistentMap(saved.commands.map((command) => restoredCommand(stream, command)));
    const state = snapshot.restore(saved.state);
    return {
      eventId: saved.eventId,
      baseline: { state, revision, position, commands, size, measured: size, savedAt: revision, forgottenAt: 0 },
    };
  }

  /**
   * Stores a baseline that has grown enough since the last snapshot. Returns the revision of the newest snapshot.
   * Nobody waits for it.
   */
  keep<State, Command, Event extends AnyEvent>(
    { snapshot }: Decider<State, Command, Event>,
    stream: string,
    { state, revision, position, size, commands, savedAt }: Baseline<State>,
    lastId: string,
  ): number {
    if (snapshot === undefined || revision - savedAt < Math.max(SNAPSHOT_EVENTS, revision * GROWTH)) return savedAt;
    const kept = snapshot.save(state);
    if (kept === undefined) return savedAt;
    const saved: Saved = {
      version: snapshot.version,
      eventId: lastId,
      revision,
      position,
      size,
      commands: [...commands].map(savedCommand),
      state: kept,
    };
    // If one is lost, the stream is read from an earlier one, or as a whole, and the next one follows.
    this.store.writeState(keyOf(stream), saved as Plain<Saved>).catch(() => undefined);
    return revision;
  }
}

type SnapshotBaseline<State> = Pick<
  Baseline<State>,
  'state' | 'revision' | 'position' | 'commands' | 'forgottenAt' | 'size' | 'measured' | 'savedAt'
>;

const keyOf = (stream: string): string => `snapshot/${stream}`;

const savedCommand = ([id, { receipt, hash, at }]: Known): SavedCommand => [
  id,
  receipt.eventIds.length,
  receipt.revision,
  receipt.position,
  at,
  hash ?? null,
];

const restoredCommand = (
  stream: string,
  [id, events, revision, position, at, hash]: SavedCommand,
): [string, KnownCommand] => {
  const receipt: Receipt = {
    stream,
    position,
    revision,
    repeated: false,
    // Hashed for the few commands that are repeated.
    get eventIds(): readonly Uuid[] {
      return Array.from({ length: events }, (_, index) => eventId(id, index));
    },
  };
  return [id, { receipt, hash: hash ?? undefined, at }];
};
