import { errorName, isUnavailable, type Plain, reasonOf } from '@app/kernel';
import { allEntries } from './coordination-store';
import { type LeaseGroup, type LeaseRecord, LEASES, LeaseMember, type LeasesOptions } from './lease-member';
import { Processes } from './processes';
import { Requests } from './requests';

const ALONE = `${LEASES}alone`;

/** Who works on one unit of a group, from 0; `holder`: id of a living process, null where none holds it. */
export interface LeaseStatus {
  readonly group: string;
  readonly unit: number;
  readonly holder: string | null;
}

/**
 * Shares work between living processes: unit u of a group belongs to the u-th participant, counted round. A process
 * gives back units of others, and takes its own once they are free or their holder is dead. Taking a unit raises its
 * fence, so earlier holders are rejected from then on, also one that was paused. A process that is alone takes
 * everything at once.
 */
export class Leases {
  private readonly members = new Set<LeaseMember>();
  /** Why shared work could not be taken or given back since it last could. */
  private readonly told = new Set<string>();
  private silence: (() => void) | undefined;
  private aloneFence: Promise<number> | undefined;

  /** What processes ask of the one that holds a unit. */
  readonly requests: Requests;

  constructor(private readonly options: LeasesOptions) {
    this.requests = new Requests(options);
  }

  get processes(): Processes {
    return this.options.processes;
  }

  /** Joins groups. Resolves when this process has taken what is free for it. While the store is unavailable, each heartbeat tries again. */
  async join(groups: readonly LeaseGroup[]): Promise<readonly LeaseMember[]> {
    const joined = groups.map((group) => new LeaseMember(group, this.options, () => this.fenceWhenAlone()));
    for (const member of joined) {
      this.members.add(member);
      this.processes.join(member.group.name, member.group.declaration);
    }
    this.silence ??= this.processes.onHeartbeat(() => this.divide([...this.members], () => undefined));
    await this.processes.heartbeat();
    const failures: unknown[] = [];
    await this.divide(joined, (error) => isUnavailable(error) || failures.push(error));
    if (failures.length > 0) throw failures[0];
    return joined;
  }

  /** Gives back what is held of some groups, and takes part in them no longer. */
  async leave(members: readonly LeaseMember[]): Promise<void> {
    for (const member of members) {
      this.members.delete(member);
      this.processes.leave(member.group.name);
    }
    if (this.members.size === 0) {
      this.silence?.();
      this.silence = undefined;
    }
    await Promise.all(members.map((member) => member.leave()));
  }

  /** Somebody else works on what this process holds of a group: it gives way, or begins anew with a higher fence. */
  async fenced(group: string): Promise<void> {
    for (const member of this.members) if (member.group.name === group) await member.fenced();
  }

  /** Has all that this process works on begin anew, from what is stored: what it knows of the log is of no use any more. */
  async renew(): Promise<void> {
    await Promise.all([...this.members].map((member) => member.renew()));
  }

  /** The units of a group that this process holds, each with its fence. */
  heldOf(group: string): ReadonlyMap<number, number> {
    return [...this.members].find((member) => member.group.name === group)?.held ?? new Map();
  }

  /** Every unit that somebody has held: one entry for each living holder, which are several where versions of the product differ in what they declare; else one without. */
  async status(): Promise<readonly LeaseStatus[]> {
    if (this.processes.alone)
      return [...this.members].flatMap(({ group, held }) =>
        [...held.keys()].map((unit) => ({ group: group.name, unit, holder: this.processes.id })),
      );
    const all = [...(await this.records())].flatMap(([key, { units }]) => {
      const [group = ''] = key.slice(LEASES.length).split('/');
      return units.map(({ holder }, unit): LeaseStatus => ({
        group,
        unit,
        holder: holder !== null && this.processes.isAlive(holder) ? holder : null,
      }));
    });
    // What nobody holds of an earlier declaration need not be held.
    const isHeld = new Set(all.filter(({ holder }) => holder !== null).map(({ group, unit }) => `${group}/${unit}`));
    const free = new Map(
      all
        .filter(({ group, unit }) => !isHeld.has(`${group}/${unit}`))
        .map((status) => [`${status.group}/${status.unit}`, status]),
    );
    return [...all.filter(({ holder }) => holder !== null), ...free.values()];
  }

  private async divide(members: readonly LeaseMember[], onError: (error: unknown) => void): Promise<void> {
    const records = this.processes.alone ? undefined : await this.records();
    const failed = new Map<string, unknown>();
    const dividing = members.map(async (member) => {
      try {
        await member.divide(records?.get(member.key));
      } catch (error) {
        failed.set(member.group.name, error);
        onError(error);
      }
    });
    await Promise.all(dividing);
    this.tell(failed);
    if (failed.size === 0 && members.length === this.members.size) this.told.clear();
  }

  /** Once an outage, for all groups together: what keeps one from its work keeps most of them, at every heartbeat. */
  private tell(failed: ReadonlyMap<string, unknown>): void {
    for (const [cause, groups] of Map.groupBy(failed.keys(), (group) => causeOf(failed.get(group)))) {
      if (this.told.has(cause)) continue;
      this.told.add(cause);
      this.options.logger.warn(
        { groups, reason: reasonOf(failed.get(groups[0] ?? '')) },
        'Taking or giving back shared work failed; retrying.',
      );
    }
  }

  private async records(): Promise<ReadonlyMap<string, LeaseRecord>> {
    const stored = await allEntries((options) => this.options.store.list(LEASES, options));
    return new Map(stored.flatMap(({ key, value }) => (key === ALONE ? [] : [[key, value as Plain<LeaseRecord>]])));
  }

  /** Raised once a start and stored, from the clock too: so that it still rises when the store of leases is lost and the views are not. */
  private fenceWhenAlone(): Promise<number> {
    this.aloneFence ??= this.raiseFence().catch((error: unknown) => {
      this.aloneFence = undefined;
      throw error;
    });
    return this.aloneFence;
  }

  private async raiseFence(): Promise<number> {
    const before = (await this.options.store.read(ALONE)) as { readonly fence: number } | undefined;
    const fence = Math.max((before?.fence ?? 0) + 1, this.options.clock.now().getTime());
    await this.options.store.write(ALONE, { fence });
    return fence;
  }
}

/** What a failure is one of: the store that is away, or the kind of error. */
const causeOf = (error: unknown): string => (isUnavailable(error) ? error.dependency : errorName(error));

/** Work that one process does for all: `start` when it is this one, `stop` when it is no longer. */
export const led = (
  name: string,
  order: number,
  work: { start(): Promise<void>; stop(): Promise<void> },
): LeaseGroup => ({
  name,
  declaration: 'led',
  units: 1,
  order,
  newest: true,
  onChange: (held) => (held.size > 0 ? work.start() : work.stop()),
});
