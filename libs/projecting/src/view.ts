import type { EventLog } from '@app/event-log';
import { type Clock, type EventCodec, isDamaged, type Position, refuse } from '@app/kernel';
import type { ReadStore } from '@app/read-store';
import type { ProjectingEvents } from './events';
import { Follower } from './follower';
import type { Logger } from './logger';
import { BuildRecords, type RebuildRecord } from './rebuild-record';
import { allState } from './stored-state';
import type { ViewStore } from './view-store';
import { Waiters } from './waiters';

export interface ViewOptions {
  readonly log: EventLog;
  readonly codec: EventCodec;
  readonly readStore: ReadStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: ProjectingEvents;
  readonly onFenced: () => void;
}

/** One view and its builds: the one that is served, and at most one beside it. */
export class View {
  readonly waiters = new Waiters();
  readonly records: BuildRecords;
  /** Ids of events that an operator discarded: passed over by every build. */
  readonly skip = new Set<string>();
  /** Follows the log for the build that is served; undefined while that build is unfit or nothing runs. */
  live: Follower | undefined;
  /** Follows the log for the other build, if there is one. */
  beside: Follower | undefined;
  fence = 0;
  private version: number | undefined;
  private countAtOpening = 0;

  constructor(
    readonly store: ViewStore,
    private readonly options: ViewOptions,
  ) {
    this.records = new BuildRecords(options.readStore, store.name);
  }

  get name(): string {
    return this.store.name;
  }

  /** Build that is served. */
  get served(): number {
    if (this.version === undefined) throw new Error(`${this.name} is not open`);
    return this.version;
  }

  /** Events handled by the served build. */
  get count(): number {
    return this.live?.count ?? this.countAtOpening;
  }

  /** Opens the served build, making the first one where there is none, and follows the log unless the build is unfit: then answers why. */
  async open(fence: number): Promise<Exclude<RebuildRecord['reason'], 'asked'> | undefined> {
    this.fence = fence;
    const prefix = this.records.discardedPrefix();
    for (const { key } of await allState(this.options.readStore, prefix)) this.skip.add(key.slice(prefix.length));
    try {
      return await this.openServed();
    } catch (error) {
      const damaged = await this.store.live();
      if (!isDamaged(error) || damaged === undefined) throw error;
      this.options.logger.error({ view: this.name, version: damaged }, 'the build is damaged; it is dropped and filled again from the log');
      await this.store.drop(damaged);
      await this.store.prepare(damaged);
      return this.openServed();
    }
  }

  private async openServed(): Promise<Exclude<RebuildRecord['reason'], 'asked'> | undefined> {
    this.version = (await this.store.live()) ?? (await this.makeFirst());
    const unfit = await this.unfitness(this.version);
    if (unfit !== undefined) return unfit;
    await this.store.prepare(this.version);
    this.live = await this.follow(this.version);
    return undefined;
  }

  async close(): Promise<void> {
    await Promise.all([this.live?.stop(), this.beside?.stop()]);
    this.live = undefined;
    this.beside = undefined;
  }

  /** A number that no build of the view has had. */
  async nextVersion(): Promise<number> {
    return Math.max(0, ...(await this.store.versions()), (await this.records.rebuild())?.version ?? 0) + 1;
  }

  async begin(version: number): Promise<void> {
    await this.records.saveDeclaration(version, this.store.declaration);
    await this.store.prepare(version);
  }

  /** True when a build was made for the projection as it is declared now. */
  async isFit(version: number): Promise<boolean> {
    return (await this.records.declaration(version)) === this.store.declaration;
  }

  async followBeside(version: number): Promise<void> {
    await this.store.prepare(version);
    this.beside = await this.follow(version);
  }

  /** Holds both builds at one position while `work` runs: what arrives meanwhile is handled after. */
  aligned<T>(work: (position: Position | null) => Promise<T>): Promise<T> {
    const { live, beside } = this;
    if (live === undefined || beside === undefined) return refuse('rebuild_not_ready');
    return live.hold((advanceLive) =>
      beside.hold(async (advanceBeside) => {
        const [first, second] = [live.position, beside.position];
        const position = first === null || (second !== null && second > first) ? second : first;
        await advanceLive(position);
        await advanceBeside(position);
        return work(position);
      }),
    );
  }

  /** Serves the build beside instead, both standing at one position, so that no reader sees the view go back. Refuses with `conflict` when another was faster. */
  swap(): Promise<void> {
    return this.aligned(async () => {
      const { live, beside } = this as { live: Follower; beside: Follower };
      if (!(await this.store.swap(live.version, beside.version))) return refuse('conflict');
      this.version = beside.version;
      [this.live, this.beside] = [beside, live];
      this.waiters.advance(beside.position);
    });
  }

  /** Serves a build that has caught up instead of an unfit one, which cannot be brought to the same position. */
  async replace(version: number): Promise<void> {
    if (!(await this.store.swap(this.served, version))) return refuse('conflict');
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
    await this.records.saveDeclaration(version, null);
  }

  private async follow(version: number): Promise<Follower> {
    const onAdvance = (position: Position | null): void => {
      if (version === this.version) this.waiters.advance(position);
    };
    return Follower.start({ ...this.options, store: this.store, version, fence: this.fence, skip: this.skip, onAdvance });
  }

  private async makeFirst(): Promise<number> {
    const version = await this.nextVersion();
    await this.begin(version);
    return (await this.store.swap(undefined, version)) ? version : ((await this.store.live()) ?? version);
  }

  private async unfitness(version: number): Promise<'declaration' | 'ahead-of-log' | undefined> {
    const { position, handled } = (await this.store.checkpoint(version)) ?? { position: null, handled: 0 };
    this.countAtOpening = handled;
    if (!(await this.isFit(version))) return 'declaration';
    const head = await this.options.log.head();
    return position !== null && (head === null || position > head) ? 'ahead-of-log' : undefined;
  }
}
