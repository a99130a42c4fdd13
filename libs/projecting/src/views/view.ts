import { allEntries } from '@app/coordination';
import type { EventLog } from '@app/event-log';
import { type Clock, isDamaged, type Logger, type Position, reject, type StoredEvent } from '@app/kernel';
import type { ReadStore } from '@app/read-store';
import type { CatchUp } from '../following/catch-up';
import type { ProjectingEvents } from '../events';
import { latestOf } from '../following/followed-slices';
import { Follower } from '../following/follower';
import { BuildRecords, type RebuildRecord } from '../rebuild/rebuild-record';
import type { EventReader } from '../following/shared-reader';
import { sliceOf } from './slices';
import { StoredProgress } from '../rebuild/stored-progress';
import type { ViewStore } from './view-store';
import { Waiters } from './waiters';

export interface ViewOptions {
  readonly log: EventLog;
  readonly codec: EventReader;
  readonly readStore: ReadStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: ProjectingEvents;
  readonly onFenced: () => void;
  readonly catchUp: CatchUp;
}

export type Unfitness = Exclude<RebuildRecord['reason'], 'asked'>;

/** One view and its builds, as far as this process holds slices of them: the one that is served, and at most one beside it. */
export class View {
  readonly waiters = new Waiters();
  readonly records: BuildRecords;
  readonly stored: StoredProgress;
  /** Ids of events that an operator discarded: passed over by every build. */
  readonly skip = new Set<string>();
  /** Follows the log for the build that is served; undefined while that build is unfit or nothing runs. */
  live: Follower | undefined;
  /** Follows the log for the other build, if there is one. */
  beside: Follower | undefined;
  /** The slices that this process writes, each with its fence. */
  held: ReadonlyMap<number, number> = new Map();
  private version: number | undefined;
  /** Damaged builds that still stand there. */
  private readonly broken = new Set<number>();

  constructor(
    readonly store: ViewStore,
    private readonly options: ViewOptions,
  ) {
    this.records = new BuildRecords(options.readStore, store.name);
    this.stored = new StoredProgress(store, this.records, options.log);
  }

  get name(): string {
    return this.store.name;
  }

  /** True when no other process writes the view. */
  get whole(): boolean {
    return this.held.size === this.store.slices;
  }

  /** Fence of the first slice, whose holder decides on builds. */
  get fence(): number {
    return this.held.get(0) ?? 0;
  }

  /** The slice that the stream of an event belongs to. */
  sliceOf({ stream }: Pick<StoredEvent, 'stream'>): number {
    return sliceOf(stream, this.store.slices);
  }

  /** Build that is served. */
  get served(): number {
    if (this.version === undefined) throw new Error(`${this.name} is not open`);
    return this.version;
  }

  head(): Promise<Position | null> {
    return this.options.log.head();
  }

  /** Opens the served build, or creates the first one. Follows the log unless the build is unfit; then it returns the reason. */
  async open(held: ReadonlyMap<number, number>): Promise<Unfitness | undefined> {
    await this.hold(held);
    for (const version of this.broken) await this.setAside(version);
    try {
      return await this.openServed();
    } catch (error) {
      const damaged = await this.store.live();
      if (!isDamaged(error) || damaged === undefined) throw error;
      this.breaks(damaged);
      await this.setAside(damaged);
      return 'damaged';
    }
  }

  /** A build was found damaged: the next `open` moves it out of the way. True when that is news. */
  breaks(version: number): boolean {
    if (this.broken.has(version)) return false;
    this.broken.add(version);
    this.options.logger.error(
      { view: this.name, version },
      'View is damaged or unreadable. Its file is set aside, and the view is rebuilt from the log.',
    );
    return true;
  }

  /** True where a build stands. */
  async isThere(version: number): Promise<boolean> {
    return (await this.store.checkpoint(version, 0)) !== undefined;
  }

  /** Takes slices whose first is another's: what is to be followed is said by `attend`. */
  async hold(held: ReadonlyMap<number, number>): Promise<void> {
    this.held = held;
    const prefix = this.records.discardedPrefix();
    for (const { key } of await allEntries((options) => this.options.readStore.listState(prefix, options)))
      this.skip.add(key.slice(prefix.length));
  }

  /** Goes on with other slices, the same builds. */
  async reslice(held: ReadonlyMap<number, number>): Promise<void> {
    const [live, beside] = [this.live?.version, this.beside?.version];
    await this.close();
    this.held = held;
    await this.attend(live, beside);
  }

  /** Follows these builds and no others. */
  async attend(live: number | undefined, beside: number | undefined): Promise<void> {
    this.version = live ?? this.version;
    const running = [this.live, this.beside];
    const kept = (version: number | undefined): Follower | undefined =>
      running.find((follower) => follower !== undefined && follower.version === version);
    await Promise.all(
      running.map(async (follower) => {
        if (follower !== kept(live) && follower !== kept(beside)) await follower?.stop();
      }),
    );
    this.live = kept(live) ?? (live === undefined ? undefined : await this.follow(live));
    this.beside = kept(beside) ?? (beside === undefined ? undefined : await this.follow(beside));
  }

  async close(): Promise<void> {
    await Promise.all([this.live?.stop(), this.beside?.stop()]);
    this.live = undefined;
    this.beside = undefined;
  }

  /** Makes an empty build for the projection as it is declared now, under a number that no build of the view has had. */
  async begin(): Promise<number> {
    // Only the number of the served build may be known: its file was set aside, and its claims were lost.
    const [served = 0, versions, rebuild] = await Promise.all([
      this.store.live(),
      this.store.versions(),
      this.records.rebuild(),
    ]);
    for (let version = Math.max(served, ...versions, rebuild?.version ?? 0) + 1; ; version += 1) {
      if (!(await this.records.claim(version, this.store.declaration))) continue;
      await this.store.prepare(version);
      return version;
    }
  }

  /** True when a build was made for the projection as it is declared now, and from this log. */
  async isFit(version: number): Promise<boolean> {
    return (await this.isDeclared(version)) && (await this.records.isOfThisLog(version));
  }

  /** As the store says, which may have swapped without an answer. */
  async isServed(version: number): Promise<boolean> {
    return (await this.store.live()) === version;
  }

  async followBeside(version: number): Promise<void> {
    await this.store.prepare(version);
    if (this.beside?.version !== version) this.beside = await this.follow(version);
  }

  /** If the store lost confirmed commits, followers continue from its state; throws `Unavailable` then. */
  async confirm(): Promise<void> {
    await Promise.all([this.live?.confirm(), this.beside?.confirm()]);
  }

  /** Holds both builds at one position while `work` runs; events that arrive meanwhile are handled afterwards. All slices must be here. `work` may ask whether the store still holds both, as `confirm` does; it did when `work` began. */
  aligned<T>(work: (position: Position | null, confirm: () => Promise<void>) => Promise<T>): Promise<T> {
    const { live, beside } = this;
    if (live === undefined || beside === undefined || !this.whole) return reject('rebuild_not_ready');
    return live.hold((heldLive) =>
      beside.hold(async (heldBeside) => {
        // No slice goes back: all come to where the furthest of either build stands.
        const position = latestOf([live.furthest, beside.furthest]);
        await heldLive.advanceTo(position);
        await heldBeside.advanceTo(position);
        const confirm = async (): Promise<void> => void (await Promise.all([heldLive.confirm(), heldBeside.confirm()]));
        await confirm();
        return work(position, confirm);
      }),
    );
  }

  /** Serves the other build instead, with both at one position, so no reader sees the view go back. Rejects with `conflict` if another process was faster. */
  swap(): Promise<void> {
    return this.aligned(async () => {
      const { live, beside } = this as { live: Follower; beside: Follower };
      if (!(await this.serves(live.version, beside.version)))
        return reject('conflict', { reason: 'concurrent_changes' });
      this.version = beside.version;
      [this.live, this.beside] = [beside, live];
      this.waiters.advance(beside.position);
    });
  }

  /** Serves a build that has caught up instead of an unfit one, which cannot be brought to the same position. */
  async replace(version: number): Promise<void> {
    if (!(await this.serves(this.served, version))) return reject('conflict', { reason: 'concurrent_changes' });
    await this.beside?.stop();
    this.beside = undefined;
    this.version = version;
    this.live = await this.follow(version);
  }

  /** Drops a build that is not served. */
  async remove(version: number): Promise<void> {
    if (this.beside?.version === version) {
      await this.beside.stop();
      this.beside = undefined;
    }
    if ((await this.store.versions()).includes(version)) await this.store.drop(version);
    await this.records.forget(version);
  }

  /** True once the store serves `to`: by this swap, or by an earlier one whose answer was lost. */
  private async serves(from: number, to: number): Promise<boolean> {
    return (await this.store.swap(from, to)) || this.isServed(to);
  }

  private async setAside(version: number): Promise<void> {
    await this.store.setAside(version);
    this.broken.delete(version);
  }

  private async openServed(): Promise<Unfitness | undefined> {
    this.version = (await this.store.live()) ?? (await this.makeFirst());
    const unfit = await this.unfitness(this.version);
    if (unfit !== undefined) {
      // What it showed last is no place of this log, or of this program.
      this.waiters.advance(null);
      return unfit;
    }
    await this.store.prepare(this.version);
    this.live = await this.follow(this.version);
    return undefined;
  }

  private async follow(version: number): Promise<Follower> {
    const onAdvance = (position: Position | null): void => {
      if (version === this.version) this.waiters.advance(position);
    };
    return Follower.start({ ...this.options, store: this.store, version, held: this.held, skip: this.skip, onAdvance });
  }

  private async isDeclared(version: number): Promise<boolean> {
    return (await this.records.declaration(version)) === this.store.declaration;
  }

  private async makeFirst(): Promise<number> {
    const version = await this.begin();
    return (await this.store.swap(undefined, version)) ? version : ((await this.store.live()) ?? version);
  }

  private async unfitness(version: number): Promise<Unfitness | undefined> {
    // Builds that several processes write are not files, and are created again if they are gone.
    if (this.store.slices === 1 && !(await this.isThere(version))) return 'damaged';
    if (!(await this.isDeclared(version))) return 'declaration';
    if (!(await this.records.isOfThisLog(version))) return 'ahead-of-log';
    const [places, head] = await Promise.all([this.stored.places(version), this.head()]);
    const furthest = latestOf(places);
    if (furthest === null) return undefined;
    return head === null || furthest > head || !(await this.isPlace(furthest)) ? 'ahead-of-log' : undefined;
  }

  /** False if there can be no event there: the log is an older backup, and has grown past the former position of the view. */
  private async isPlace(position: Position): Promise<boolean> {
    try {
      await this.options.log.readAll({ after: position, limit: 1 });
      return true;
    } catch (error) {
      // An unavailable log does not prove that an event is missing: the follower asks again.
      return !(error instanceof RangeError);
    }
  }
}
