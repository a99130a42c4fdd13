import { type Clock, errorName, type Logger, type Plain } from '@app/kernel';
import { allEntries, type CoordinationStore } from './coordination-store';
import type { Declared } from './declaration';

/** A process that has not been heard of for this long is dead: others take over what it held. */
const SILENCE_MS = 5_000;
/** How long a dead process is still shown. */
const SHOWN_MS = 60_000;
const HEARTBEATS = 5;
const PREFIX = 'process/';

/** A process as it says of itself. */
export interface ProcessIdentity {
  /** Names it among all that ever ran; later ones sort behind earlier ones. */
  readonly id: string;
  readonly roles: readonly string[];
  /** Version of the product that it runs. */
  readonly version: string;
  /** Where other processes reach it, if it says so. */
  readonly url?: string;
}

/** A process as the others see it. */
export interface ProcessStatus extends ProcessIdentity {
  /** ISO 8601 UTC. */
  readonly startedAt: string;
  /** Its last heartbeat by its own clock, ISO 8601 UTC. */
  readonly beatAt: string;
  readonly alive: boolean;
}

interface ProcessRecord extends ProcessIdentity {
  readonly startedAt: string;
  readonly beatAt: string;
  readonly beat: number;
  /** Groups of work that it takes part in, each with what it declares that work to be: stored as `shares`. */
  readonly shares: Readonly<Record<string, string>>;
}

export interface ProcessesOptions extends ProcessIdentity {
  readonly store: CoordinationStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** No other process can be there: the stores are locked to this one. */
  readonly alone: boolean;
  readonly silenceMs?: number;
}

interface Seen {
  readonly record: ProcessRecord;
  /** By this process's own steady clock. */
  readonly since: number;
}

/** Who is there: every process writes a heartbeat beside the views and watches those of the others. No clocks are compared. */
export class Processes {
  readonly id: string;
  readonly alone: boolean;
  readonly version: string;
  private readonly silenceMs: number;
  private readonly startedAt: string;
  private readonly groups = new Map<string, string>();
  private readonly listeners = new Set<() => Promise<void>>();
  private seen: ReadonlyMap<string, Seen> = new Map();
  private lookedAt = 0;
  private heartbeats = 0;
  private timer: NodeJS.Timeout | undefined;
  private ticking: Promise<void> | undefined;

  constructor(private readonly options: ProcessesOptions) {
    this.id = options.id;
    this.alone = options.alone;
    this.version = options.version;
    this.silenceMs = options.silenceMs ?? SILENCE_MS;
    this.startedAt = options.clock.now().toISOString();
  }

  /** Says that this process is there, and goes on saying so until `stop`; one that is alone tells only its own listeners. */
  async start(): Promise<void> {
    if (this.timer !== undefined) return;
    this.timer = setInterval(() => void this.tick(), this.silenceMs / HEARTBEATS).unref();
    await this.heartbeat();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.timer = undefined;
    await this.ticking;
    if (!this.alone) await this.options.store.write(PREFIX + this.id, null);
  }

  /** Takes part in a group of work; `declaration` says what this process takes it to be. */
  join(group: string, declaration: string): void {
    this.groups.set(group, declaration);
  }

  leave(group: string): void {
    this.groups.delete(group);
  }

  /** Calls back after each heartbeat. */
  onHeartbeat(listener: () => Promise<void>): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Beats now, out of turn: others learn what this process shares, and it learns who is there. */
  async heartbeat(): Promise<void> {
    if (this.alone) return;
    this.heartbeats += 1;
    await this.options.store.write(PREFIX + this.id, { ...this.record() });
    await this.look();
  }

  /** The living processes, this one too, as they say of themselves. */
  living(): readonly ProcessIdentity[] {
    return this.records();
  }

  isAlive(id: string): boolean {
    return id === this.id || (!this.alone && this.isFresh(this.seen.get(id)));
  }

  /** Ids of the living processes that take part in a group with the same declaration, the oldest first; with `newest` those of the newest version only. */
  sharing(group: string, declaration: string, newest = false): readonly string[] {
    const sharing = this.records().filter(({ shares }) => shares[group] === declaration);
    const isOld = ({ version }: ProcessRecord): boolean =>
      newest && sharing.some((other) => other.version.localeCompare(version, 'en', { numeric: true }) > 0);
    return sharing.filter((record) => !isOld(record)).map(({ id }) => id);
  }

  /** What the living processes that take part in a group declare it to be. */
  declared(group: string): readonly Declared[] {
    return this.records().flatMap(({ shares, version }) =>
      shares[group] === undefined ? [] : [{ declaration: shares[group], version }],
    );
  }

  /** Every process that is there, and those that died within the last minute. */
  async status(): Promise<readonly ProcessStatus[]> {
    if (!this.alone && this.timer === undefined) await this.look();
    const others = [...this.seen.values()]
      .filter(({ record }) => record.id !== this.id)
      .map(({ record }) => ({ ...shown(record), alive: this.isAlive(record.id) }));
    return [...others, { ...shown(this.record()), alive: true }].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  private async tick(): Promise<void> {
    if (this.ticking !== undefined) return;
    this.ticking = this.heartbeatAndTell().finally(() => (this.ticking = undefined));
    await this.ticking;
  }

  private async heartbeatAndTell(): Promise<void> {
    try {
      await this.heartbeat();
      // Not waited for: however long work takes, this process goes on beating.
      for (const listener of this.listeners) void this.told(listener);
    } catch (error) {
      this.options.logger.warn({ error: errorName(error) }, 'Heartbeat failed; retrying.');
    }
  }

  private async told(listener: () => Promise<void>): Promise<void> {
    try {
      await listener();
    } catch (error) {
      this.options.logger.warn({ error: errorName(error) }, 'Checking shared work failed; retrying.');
    }
  }

  private async look(): Promise<void> {
    const now = performance.now();
    const found = new Map<string, Seen>();
    for (const { key, value } of await allEntries((options) => this.options.store.list(PREFIX, options))) {
      const record = value as Plain<ProcessRecord>;
      const before = this.seen.get(record.id);
      const since = before?.record.beat === record.beat ? before.since : now;
      if (now - since < SHOWN_MS + this.silenceMs || record.id === this.id) found.set(record.id, { record, since });
      else await this.options.store.write(key, null, { expected: value });
    }
    this.seen = found;
    this.lookedAt = now;
  }

  /** By the last look, not by now: while this process stood still it has not heard the others either. */
  private isFresh(seen: Seen | undefined): boolean {
    return seen !== undefined && this.lookedAt - seen.since < this.silenceMs;
  }

  private records(): readonly ProcessRecord[] {
    const others = [...this.seen.values()]
      .map(({ record }) => record)
      .filter(({ id }) => id !== this.id && this.isAlive(id));
    return [...others, this.record()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  private record(): ProcessRecord {
    const { id, roles, version, url, clock } = this.options;
    return {
      id,
      roles,
      version,
      ...(url === undefined ? {} : { url }),
      startedAt: this.startedAt,
      beatAt: clock.now().toISOString(),
      beat: this.heartbeats,
      shares: Object.fromEntries(this.groups),
    };
  }
}

const shown = ({ id, roles, version, startedAt, beatAt }: ProcessRecord): Omit<ProcessStatus, 'alive'> => ({
  id,
  roles,
  version,
  startedAt,
  beatAt,
});
