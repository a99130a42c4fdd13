import { setTimeout as pause } from 'node:timers/promises';
import { type Clock, errorName, type Logger, Mutex, Unavailable, unlessLeft } from '@app/kernel';
import type { CoordinationStore } from './coordination-store';
import type { Processes } from './processes';

/** What the keys of leases begin with. */
export const LEASES = 'lease/';
const GATHER_POLL_MS = 100;
/** How long all units of a group may take to come together. */
const GATHER_MS = 30_000;
/** How often a change is tried against those of other processes before it is left to the next heartbeat. */
const MOST_TRIES = 10;

/** Work that processes share by its units: the slices of a view, or the one unit of what has one leader. */
export interface LeaseGroup {
  readonly name: string;
  /** What this process takes the work to be: only those who say the same share it. */
  readonly declaration: string;
  readonly units: number;
  /** Turns the first unit to another process than that of the next group. */
  readonly order: number;
  /** Only processes of the newest version of the product take part: a rolling start hands over to the new code. */
  readonly newest?: true;
  /**
   * Called with all units that this process holds now and the fence of each, whenever they change; never twice at a time.
   * A unit is given to others only after this has resolved without it.
   */
  readonly onChange: (held: ReadonlyMap<number, number>, member: LeaseMember) => Promise<void>;
}

/** A unit as it is stored: who holds it, null when nobody does, and the fence that its writes carry. */
type Unit = {
  readonly holder: string | null;
  readonly fence: number;
};

/** The units of a group as they are stored, in their order. */
export type LeaseRecord = {
  readonly units: readonly Unit[];
  /** Who asks for all of them, for a time. */
  readonly wanted?: string;
};

export interface LeasesOptions {
  readonly processes: Processes;
  readonly store: CoordinationStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What one process holds of one group. */
export class LeaseMember {
  held: ReadonlyMap<number, number> = new Map();
  /** What of it has been taken up by those who work on it. */
  private ready: ReadonlyMap<number, number> = new Map();
  private readonly mutex = new Mutex();
  private dividing = false;
  private left = false;
  /** Work under way that needs all units. */
  private gathering = 0;
  /** How often what was held could not be worked on. */
  private failures = 0;

  constructor(
    readonly group: LeaseGroup,
    private readonly options: LeasesOptions,
    private readonly fenceWhenAlone: () => Promise<number>,
  ) {}

  /** The declaration is part of it: builds of different declarations are different work. */
  get key(): string {
    return `${LEASES}${this.group.name}/${this.group.declaration}`;
  }

  /** Takes and gives back as the units are divided now; `record` is what is stored, where that is known. Does nothing while an earlier call works. */
  async divide(record?: LeaseRecord): Promise<void> {
    if (this.dividing || this.left) return;
    this.dividing = true;
    try {
      await this.mutex.run(() => (this.options.processes.alone ? this.takeAll() : this.settle(record)));
    } finally {
      this.dividing = false;
    }
  }

  /** A write was rejected: what was held is another's, or is taken anew with a higher fence. */
  async fenced(): Promise<void> {
    if (this.options.processes.alone)
      this.options.logger.error(
        { group: this.group.name },
        'Another process writes to a store that only this one may write to.',
      );
    await this.mutex.run(() => this.change(new Map()));
    if (!this.options.processes.alone) await this.divide();
  }

  /** Begins anew with what is held. */
  async takeUp(): Promise<void> {
    await this.mutex.run(async () => (this.held.size === 0 ? undefined : this.change(this.held)));
  }

  /** Ends the work on what is held, and begins it anew. What then cannot be worked on is taken again at the next heartbeat. */
  async renew(): Promise<void> {
    await this.mutex.run(async () => {
      const { held } = this;
      if (held.size === 0) return;
      await this.change(new Map());
      await this.change(held);
    });
  }

  /** Brings all units to this process, which holds the first one, and keeps them here for as long as `work` runs. */
  async withAll<T>(work: () => Promise<T>): Promise<T> {
    this.gathering += 1;
    try {
      if (!this.options.processes.alone) await this.update((record) => ({ ...record, wanted: this.me }));
      await this.gathered();
      return await work();
    } finally {
      this.gathering -= 1;
      if (this.gathering === 0 && !this.options.processes.alone) await unlessLeft(() => this.wantNoMore());
    }
  }

  /** Leaves the others their units. What the store does not take now is done at a later heartbeat, and changes nothing of what was done with all. */
  private wantNoMore(): Promise<void> {
    return this.update((record) =>
      record.wanted === this.me && this.gathering === 0 ? { units: record.units } : record,
    );
  }

  async leave(): Promise<void> {
    this.left = true;
    await this.mutex.run(async () => {
      await this.change(new Map());
      if (!this.options.processes.alone) await this.giveBack();
    });
  }

  /** Resolves when all units are here and none is about to go. */
  private async gathered(): Promise<void> {
    const [deadline, { failures }] = [performance.now() + GATHER_MS, this];
    while (this.dividing || this.ready.size < this.group.units) {
      // After a failure it begins anew, which waits for this work to end.
      if (!this.held.has(0) || this.failures > failures || performance.now() > deadline)
        throw new Unavailable(`the view ${this.group.name}`, 'its slices were not collected in time');
      // Not waited for: it may be this work that a change of what is held waits for.
      this.divide().catch((error: unknown) =>
        this.options.logger.warn(
          { group: this.group.name, error: errorName(error) },
          'Collecting the slices of a view failed; retrying.',
        ),
      );
      await pause(GATHER_POLL_MS);
    }
  }

  private async takeAll(): Promise<void> {
    if (this.held.size > 0) return;
    const fence = await this.fenceWhenAlone();
    await this.change(new Map(Array.from({ length: this.group.units }, (_, unit) => [unit, fence])));
  }

  private async settle(known?: LeaseRecord): Promise<void> {
    if (this.left) return;
    if (this.gathering === 0 && known?.wanted === this.me) {
      await this.wantNoMore();
      return this.settle();
    }
    // What was read a moment before does not say that this process asks for all units.
    const record = (this.gathering === 0 ? known : undefined) ?? (await this.read());
    const owners = this.owners(record);
    for (const [unit, fence] of this.held) {
      if (!this.isMine(record, unit, fence))
        this.options.logger.warn({ group: this.group.name, unit, fence }, 'Another process has taken over.');
    }
    const kept = [...this.held].filter(([unit, fence]) => this.isMine(record, unit, fence) && owners(unit) === this.me);
    const held = new Map([...kept, ...(await this.take(record, owners))]);
    if (!sameUnits(held, this.held)) await this.change(held);
    if (record.units.some(({ holder }, unit) => holder === this.me && !held.has(unit))) await this.giveBack();
  }

  /** Takes what belongs to this process and is nobody's, or a dead process's. */
  private async take(
    record: LeaseRecord,
    owners: (unit: number) => string | undefined,
  ): Promise<readonly (readonly [number, number])[]> {
    const now = this.options.clock.now().getTime();
    const isFree = ({ holder, fence }: Unit, unit: number): boolean =>
      owners(unit) === this.me &&
      this.held.get(unit) !== fence &&
      (holder === null || holder === this.me || !this.options.processes.isAlive(holder));
    if (!record.units.some(isFree)) return [];
    const taken = {
      ...record,
      units: record.units.map((unit, index) =>
        isFree(unit, index) ? { holder: this.me, fence: Math.max(unit.fence + 1, now) } : unit,
      ),
    };
    if (!(await this.write(taken, record))) return [];
    return taken.units.flatMap(({ fence }, index) =>
      isFree(record.units[index] as Unit, index) ? [[index, fence] as const] : [],
    );
  }

  /** Lets go of what this process does not work on, also of what it took and could then not work on. */
  private async giveBack(): Promise<void> {
    await this.update((record) => ({
      ...record,
      units: record.units.map((unit, index) =>
        unit.holder === this.me && !this.held.has(index) ? { ...unit, holder: null } : unit,
      ),
    }));
  }

  /** Whom each unit belongs to: who asked for all of them, while it lives and holds the first. */
  private owners({ units: [first], wanted }: LeaseRecord): (unit: number) => string | undefined {
    const { processes } = this.options;
    if (wanted !== undefined && first?.holder === wanted && processes.isAlive(wanted)) return () => wanted;
    const sharing = processes.sharing(this.group.name, this.group.declaration, this.group.newest);
    return (unit) => sharing[(this.group.order + unit) % sharing.length];
  }

  private async change(held: ReadonlyMap<number, number>): Promise<void> {
    this.held = held;
    this.ready = new Map();
    try {
      await this.group.onChange(held, this);
      this.ready = held;
    } catch (error) {
      // Not worked on: the next heartbeat tries again.
      this.held = new Map();
      this.failures += 1;
      throw error;
    }
  }

  private isMine({ units }: LeaseRecord, unit: number, fence: number): boolean {
    return units[unit]?.holder === this.me && units[unit]?.fence === fence;
  }

  private async read(): Promise<LeaseRecord> {
    return ((await this.options.store.read(this.key)) as LeaseRecord | undefined) ?? this.free();
  }

  /** Changes what is stored, whatever others change at the same time. */
  private async update(change: (record: LeaseRecord) => LeaseRecord): Promise<void> {
    for (let attempt = 1; attempt <= MOST_TRIES; attempt += 1) {
      const record = await this.read();
      if (await this.write(change(record), record)) return;
    }
  }

  /** False when another was faster. */
  private async write(record: LeaseRecord, before: LeaseRecord): Promise<boolean> {
    const expected = before.units.every(({ fence }) => fence === 0) ? undefined : before;
    return this.options.store.write(this.key, record, { expected });
  }

  /** Where nobody has held anything yet. */
  private free(): LeaseRecord {
    return { units: Array.from({ length: this.group.units }, () => ({ holder: null, fence: 0 })) };
  }

  private get me(): string {
    return this.options.processes.id;
  }
}

const sameUnits = (one: ReadonlyMap<number, number>, other: ReadonlyMap<number, number>): boolean =>
  one.size === other.size && [...one].every(([unit, fence]) => other.get(unit) === fence);
