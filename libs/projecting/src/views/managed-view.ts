import { declarationName, isNewest, type LeaseGroup, type LeaseMember, type Processes } from '@app/coordination';
import { type Calls, type Json, type Logger, Mutex } from '@app/kernel';
import { SliceFollower } from '../rebuild/slice-follower';
import type { DeadLetter } from '../dead-letter';
import type { ProjectingEvents } from '../events';
import { Progress } from '../rebuild/run-build';
import { Rebuild } from '../rebuild/rebuild';
import type { RebuildWorker } from '../rebuild/rebuild-worker';
import type { LogMark } from './log-mark';
import type { View } from './view';

export interface ManagedViewOptions {
  readonly view: View;
  readonly mark: LogMark;
  readonly processes: Processes;
  readonly spawn: () => Calls<RebuildWorker>;
  readonly turns: Mutex;
  readonly logger: Logger;
  readonly events: ProjectingEvents;
  /** Turns the first slice to another process than that of the next view. */
  readonly order: number;
}

/** How often it is asked what others have decided, though nothing says so. */
const LOOK_ANYWAY_MS = 30_000;
/** The same during a rebuild, for which processes wait for each other. */
const LOOK_AT_REBUILD_MS = 5_000;

/** What an operator may ask of a rebuild; `startOver` is for erasure. */
export const REBUILD_ACTIONS = [
  'start',
  'pause',
  'resume',
  'startOver',
  'cancel',
  'swap',
  'rollback',
  'retire',
] as const;
export type RebuildAction = (typeof REBUILD_ACTIONS)[number];

/** A view in this process: as the holder of its first slice, as a follower of that one, or not at all. */
export class ManagedView {
  readonly rebuild: Rebuild;
  readonly progress = new Progress();
  readonly group: LeaseGroup;
  private readonly sliceFollower: SliceFollower;
  private readonly changing = new Mutex();
  private gathering = 0;
  private seen = { record: '', at: 0 };
  private looking = false;
  /** Undefined while this process takes no part in writing the view. */
  private member: LeaseMember | undefined;

  constructor(private readonly options: ManagedViewOptions) {
    const { view, processes, order } = options;
    const declaration = declarationName(view.store.declaration);
    this.group = {
      name: view.name,
      declaration,
      units: view.store.slices,
      order,
      onChange: (held, member) => this.changing.run(() => this.change(held, member)),
    };
    this.sliceFollower = new SliceFollower({ ...options, progress: this.progress });
    this.rebuild = new Rebuild({
      ...options,
      progress: this.progress,
      gather: (work) => this.gather(work),
      isNewest: () => isNewest({ declaration, version: processes.version }, processes.declared(view.name)),
      isDeclared: (other) =>
        other !== undefined &&
        processes.declared(view.name).some((declared) => declared.declaration === declarationName(other)),
    });
  }

  get view(): View {
    return this.options.view;
  }

  /** True when this process decides on the builds of the view. */
  get leads(): boolean {
    return this.view.held.has(0);
  }

  /** Carries out what an operator asked of the rebuild. */
  act(action: RebuildAction, given: Json): Promise<void> {
    return action === 'start' ? this.rebuild.start(given as { readonly swap: boolean }) : this.rebuild[action]();
  }

  /** A build of the view was found damaged, in a file that this process alone writes: begins anew without it. */
  async mend(version: number): Promise<void> {
    if (this.gathering === 0 && this.view.breaks(version)) await this.member?.takeUp();
  }

  /** Hands the event of a dead letter, and what waits behind it, to the view again. */
  async replay(letter: DeadLetter, discard: boolean, now: Date): Promise<DeadLetter | undefined> {
    const { view } = this;
    if (discard) {
      await view.records.saveDiscarded(letter.eventId, now.toISOString());
      view.skip.add(letter.eventId);
    }
    await view.beside?.replay(letter, { discard });
    return view.live?.replay(letter, { discard });
  }

  /**
   * If another process has decided about the builds since, this one continues from the stored state. `record` is the
   * stored state of the rebuild.
   */
  async look(record: string): Promise<void> {
    const now = performance.now();
    const isLater = now - this.seen.at >= (record === '' ? LOOK_ANYWAY_MS : LOOK_AT_REBUILD_MS);
    if (
      this.looking ||
      this.view.held.size === 0 ||
      (record === this.seen.record && this.view.live !== undefined && !isLater)
    )
      return;
    this.seen = { record, at: now };
    this.looking = true;
    await this.attend().finally(() => (this.looking = false));
  }

  private async attend(): Promise<void> {
    await (this.leads ? this.reconsider() : this.sliceFollower.look());
    await this.view.confirm();
  }

  /** Through the lease: what could not be taken up again is not held, and taken anew at the next heartbeat. */
  private async reconsider(): Promise<void> {
    const isDue = await this.changing.run(
      async () => this.leads && this.gathering === 0 && (await this.rebuild.isOutdated()),
    );
    if (isDue) await this.member?.takeUp();
  }

  /** Another process has written a slice that this one held. */
  async fenced(): Promise<void> {
    await this.member?.fenced();
  }

  private async gather<T>(work: () => Promise<T>): Promise<T> {
    if (this.member === undefined) return work();
    this.gathering += 1;
    try {
      return await this.member.withAll(work);
    } finally {
      this.gathering -= 1;
    }
  }

  private async change(held: ReadonlyMap<number, number>, member: LeaseMember | undefined): Promise<void> {
    this.member = member;
    try {
      if (this.gathering > 0 && this.leads && held.has(0)) return await this.view.reslice(held);
      await this.rebuild.close();
      await this.sliceFollower.close();
      await this.view.close();
      this.view.held = new Map();
      if (held.size > 0) await this.options.mark.verify();
      if (held.has(0)) await this.rebuild.open(await this.view.open(held));
      else if (held.size > 0) await this.sliceFollower.open(held);
    } catch (error) {
      this.view.held = new Map();
      throw error;
    }
  }
}
