import type { EventLog } from '@app/event-log';
import { callHere, type Calls, type Clock, type EventCodec, type Position, refuse } from '@app/kernel';
import type { DeadLetter } from './dead-letter';
import { ProjectingEvents } from './events';
import { lagOf } from './lag';
import { Lease } from './lease';
import type { Logger } from './logger';
import { Mutex } from './mutex';
import { CountedOrdinals, type Ordinals } from './ordinals';
import type { Projection } from './projection';
import { Rebuild, type RebuildStatus } from './rebuild';
import { type RebuildWorker, rebuildWorker } from './rebuild-worker';
import { StallWatch } from './stall-watch';
import { View } from './view';
import { type ViewStores, viewStore } from './view-stores';

const WATCH_MS = 5_000;

export interface ProjectingOptions extends ViewStores {
  readonly log: EventLog;
  readonly codec: EventCodec;
  readonly projections: readonly Projection[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Counts of the log; by default the log is counted once. */
  readonly ordinals?: Ordinals;
  /** Starts the thread that rebuilds; by default rebuilds run in this one. */
  readonly spawn?: () => Calls<RebuildWorker>;
  /** How long a holder of the lease may be silent before another takes over; 10 s by default. */
  readonly leaseMs?: number;
}

/** A view as operators see it (wire, `GET /projections`). `version` is the number of the build that is served. */
export interface ProjectionStatus {
  readonly name: string;
  readonly version: number;
  readonly state: 'live' | 'catching-up' | 'rebuilding' | 'paused' | 'stopped';
  readonly position: Position | null;
  readonly head: Position | null;
  readonly lagEvents: number;
  readonly lagSeconds: number;
  readonly rows: number;
  readonly deadLetters: number;
  readonly rebuild?: RebuildStatus;
}

interface Managed {
  readonly view: View;
  readonly rebuild: Rebuild;
}

/** Runs every projection: keeps its view up with the log, rebuilds it beside, answers for it. */
export class Projecting {
  readonly events = new ProjectingEvents();
  private readonly views = new Map<string, Managed>();
  private readonly lease: Lease;
  private readonly ordinals: Ordinals;
  private readonly stalls: StallWatch;
  private watch: NodeJS.Timeout | undefined;

  constructor(private readonly options: ProjectingOptions) {
    const { log, clock, logger, readStore, leaseMs } = options;
    this.ordinals = options.ordinals ?? new CountedOrdinals(log);
    this.stalls = new StallWatch(clock, this.events, logger);
    this.lease = new Lease({ store: readStore, name: 'projecting', clock, logger, onTaken: (fence) => this.open(fence), onLost: () => this.close(), ...(leaseMs === undefined ? {} : { leaseMs }) });
    const turns = new Mutex();
    const spawn = options.spawn ?? (() => callHere(rebuildWorker(options)));
    for (const projection of options.projections) {
      if (this.views.has(projection.name)) throw new Error(`projection ${projection.name} is defined twice`);
      const view = new View(viewStore(projection, options), { ...options, events: this.events, onFenced: () => void this.lease.lose().catch((error: unknown) => logger.error({ error }, 'the views could not be closed')) });
      this.views.set(projection.name, { view, rebuild: new Rebuild({ view, spawn, turns, logger, events: this.events }) });
    }
  }

  /** Takes the lead and follows the log from each view's checkpoint; resolves when all follow, not when they have caught up. */
  async start(): Promise<void> {
    await this.lease.start();
    this.watch = setInterval(() => void this.checkStalls().catch((error: unknown) => this.options.logger.warn({ error }, 'the views could not be watched')), WATCH_MS).unref();
  }

  /** Resolves when the pages in hand are written. */
  async stop(): Promise<void> {
    clearInterval(this.watch);
    await this.lease.stop();
  }

  /** True once the view shows everything up to a position (a receipt's), false when it does not within the time. */
  waitFor(view: string, position: Position, timeoutMs: number): Promise<boolean> {
    return this.managed(view).view.waiters.wait(position, timeoutMs);
  }

  names(): readonly string[] {
    return [...this.views.keys()];
  }

  status(): Promise<readonly ProjectionStatus[]>;
  status(name: string): Promise<ProjectionStatus>;
  async status(name?: string): Promise<ProjectionStatus | readonly ProjectionStatus[]> {
    return name === undefined ? Promise.all([...this.views.values()].map((managed) => this.statusOf(managed))) : this.statusOf(this.managed(name));
  }

  /** Dead letters of the views that are served, oldest position first. */
  deadLetters(): readonly DeadLetter[] {
    return [...this.views.values()].flatMap(({ view }) => [...(view.live?.letters.values() ?? [])]).toSorted((a, b) => (a.position < b.position ? -1 : 1));
  }

  /** Refuses with `not_found`. */
  deadLetter(id: string): DeadLetter {
    return this.deadLetters().find((letter) => letter.id === id) ?? refuse('not_found');
  }

  /** Handles the event and what waits behind it again, in order. Resolves to the dead letter that is left, if one is. */
  async retryDeadLetter(id: string): Promise<DeadLetter | undefined> {
    return this.replay(this.deadLetter(id), false);
  }

  /** Gives the event up, for rebuilds too, and handles what waits behind it. */
  async discardDeadLetter(id: string): Promise<DeadLetter | undefined> {
    const letter = this.deadLetter(id);
    const { view } = this.managed(letter.name);
    await view.records.saveDiscarded(letter.eventId, this.options.clock.now().toISOString());
    view.skip.add(letter.eventId);
    return this.replay(letter, true);
  }

  /** The rebuild of a view, for operators: `start`, `pause`, `resume`, `cancel`, `swap`, `rollback`, `retire`; and `startOver` for erasure. */
  rebuild(name: string): Pick<Rebuild, 'start' | 'pause' | 'resume' | 'startOver' | 'cancel' | 'swap' | 'rollback' | 'retire' | 'status'> {
    return this.managed(name).rebuild;
  }

  /** Raises or ends the alarm of each view. Called on a timer. */
  async checkStalls(): Promise<void> {
    const head = await this.options.log.head();
    for (const { view } of this.views.values()) if (view.live !== undefined) this.stalls.check(view.name, view.live.position, head);
  }

  private async replay(letter: DeadLetter, discard: boolean): Promise<DeadLetter | undefined> {
    const { live, beside } = this.managed(letter.name).view;
    await beside?.replay(letter, { discard });
    return live?.replay(letter, { discard });
  }

  private async open(fence: number): Promise<void> {
    await Promise.all(
      [...this.views.values()].map(async ({ view, rebuild }) => {
        const unfit = await view.open(fence);
        await rebuild.open(unfit);
      }),
    );
  }

  private async close(): Promise<void> {
    await Promise.all(
      [...this.views.values()].map(async ({ view, rebuild }) => {
        await rebuild.close();
        await view.close();
      }),
    );
  }

  private async statusOf({ view, rebuild }: Managed): Promise<ProjectionStatus> {
    const { name, store, live } = view;
    const version = (await store.live()) ?? 0;
    const position = live?.position ?? (version === 0 ? null : ((await store.checkpoint(version))?.position ?? null));
    const lag = await lagOf(position, this.options.log, this.ordinals, this.options.clock);
    const shown = rebuild.status();
    return {
      name,
      version,
      state: stateOf(view, shown, lag.lagEvents),
      position,
      ...lag,
      rows: version === 0 ? 0 : await store.count(version),
      deadLetters: live?.letters.size ?? 0,
      ...(shown === undefined ? {} : { rebuild: shown }),
    };
  }

  private managed(name: string): Managed {
    return this.views.get(name) ?? refuse('not_found', { projection: name });
  }
}

const stateOf = ({ live }: View, rebuild: RebuildStatus | undefined, lagEvents: number): ProjectionStatus['state'] => {
  if (rebuild?.state === 'building' || rebuild?.state === 'verifying') return 'rebuilding';
  if (rebuild?.state === 'paused') return 'paused';
  if (live?.running !== true) return 'stopped';
  return lagEvents === 0 ? 'live' : 'catching-up';
};
