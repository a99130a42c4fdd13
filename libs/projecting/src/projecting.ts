import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Ask, Leases, LeaseMember } from '@app/coordination';
import type { EventLog } from '@app/event-log';
import {
  callHere,
  type Calls,
  type Clock,
  errorName,
  type EventCodec,
  type Json,
  type Logger,
  Mutex,
  type Position,
  reject,
} from '@app/kernel';
import { CatchUps } from './following/catch-up';
import { type DeadLetter, letterJson } from './dead-letter';
import { ProjectingEvents } from './events';
import { BEHIND, type Gap, gapIn } from './views/gap';
import { LogMark } from './views/log-mark';
import { ManagedView, REBUILD_ACTIONS, type RebuildAction } from './views/managed-view';
import { CountedOrdinals, type Ordinals } from './ordinals';
import type { Projection } from './projection';
import { type RebuildThreads, type RebuildWorker, rebuildWorker } from './rebuild/rebuild-worker';
import { storedRebuilds } from './rebuild/rebuild-record';
import { sharedReader } from './following/shared-reader';
import { StallWatch } from './views/stall-watch';
import { View } from './views/view';
import {
  type ProjectionStatus,
  rebuildStatus,
  type RebuildStatus,
  type StatusParts,
  viewStatus,
} from './views/view-status';
import { type ViewStores, viewStore } from './views/view-stores';

const WATCH_MS = 5_000;
/** How often the stores are asked what they found damaged. */
const MEND_MS = 500;
/** How often it is asked whether another process has decided on builds. */
const LOOK_MS = 1_000;

/** The views, and what they are made from. */
export interface ProjectingOptions extends ViewStores {
  readonly log: EventLog;
  readonly codec: EventCodec;
  readonly projections: readonly Projection[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Counts of the log; by default the log is counted once. */
  readonly ordinals?: Ordinals;
  /** Starts the threads that rebuild; by default all is done in this one. */
  readonly spawn?: RebuildThreads;
  /** Shares the views with other processes. */
  readonly leases: Leases;
}

/** What an operator may do with the rebuild of a view; `startOver` is for erasure. */
export type RebuildControl = Readonly<Record<Exclude<RebuildAction, 'start'>, () => Promise<void>>> & {
  readonly start: (given: { readonly swap: boolean }) => Promise<void>;
  /** Undefined where there is none. */
  readonly status: () => Promise<RebuildStatus | undefined>;
};

/** All projections, in any process: reports on their views and forwards requests of operators. After `start` the process also does its share of the work: it keeps views up to date with the log and rebuilds them. */
export class Projecting {
  readonly events = new ProjectingEvents();
  private readonly views: ReadonlyMap<string, ManagedView>;
  private readonly leases: Leases;
  private readonly ordinals: Ordinals;
  private readonly stalls: StallWatch;
  private readonly mark: LogMark;
  private members: readonly LeaseMember[] = [];
  private timers: readonly NodeJS.Timeout[] = [];
  private unserve: (() => Promise<void>) | undefined;

  constructor(private readonly options: ProjectingOptions) {
    const { log, clock, logger } = options;
    this.ordinals = options.ordinals ?? new CountedOrdinals(log);
    this.stalls = new StallWatch(clock, this.events, logger);
    this.mark = new LogMark(log, options.readStore, logger);
    const turns = new Mutex();
    const { processes } = (this.leases = options.leases);
    const here = (): Calls<RebuildWorker> => callHere(rebuildWorker(options));
    const { rebuild: spawn, context } = options.spawn ?? { rebuild: here, context: here };
    const codec = sharedReader(options.codec);
    const catchUp = new CatchUps(spawn, logger);
    const catchUpContext = new CatchUps(context, logger);
    const { mark, events } = this;
    const views = options.projections.map((projection, order) => {
      const onFenced = (): void =>
        void managed.fenced().catch((error: unknown) => logger.error({ error }, 'Closing a view failed.'));
      const store = viewStore(projection, options, !processes.alone);
      const view = new View(store, {
        ...options,
        codec,
        events,
        onFenced,
        catchUp: store.contextOnly ? catchUpContext : catchUp,
      });
      const managed: ManagedView = new ManagedView({ view, mark, processes, spawn, turns, logger, events, order });
      return [projection.name, managed] as const;
    });
    this.views = new Map(views);
    if (this.views.size < views.length) throw new Error('a projection is defined twice');
  }

  /**
   * Takes this process's share and follows the log from each view's checkpoint. Resolves when it follows, not when it
   * has caught up.
   */
  async start(): Promise<void> {
    const { logger } = this.options;
    const managed = [...this.views.values()];
    this.members = await this.leases.join(managed.map(({ group }) => group));
    const every = (milliseconds: number, work: () => Promise<void>, failed: string): NodeJS.Timeout =>
      setInterval(
        () => void work().catch((error: unknown) => logger.warn({ error: errorName(error) }, failed)),
        milliseconds,
      ).unref();
    this.timers = [
      every(MEND_MS, () => this.mend(), 'Setting a damaged view aside failed; retrying.'),
      every(WATCH_MS, () => this.checkStalls(), 'Checking the views for stalls failed.'),
      every(MEND_MS, () => this.renew(), 'Restarting after a restore of the log failed; retrying.'),
    ];
    if (this.leases.processes.alone) return;
    this.unserve = this.leases.requests.serve((ask) => this.serve(ask));
    const failed = 'Reading rebuilds of other processes failed; retrying.';
    this.timers = [...this.timers, every(LOOK_MS, () => this.look(), failed)];
  }

  /** Resolves when the pages in hand are written. */
  async stop(): Promise<void> {
    this.timers.forEach(clearInterval);
    await this.unserve?.();
    await this.leases.leave(this.members);
    await this.mark.close();
  }

  /** True once the view shows everything up to a position (a receipt's), false when it does not within the time. */
  waitFor(name: string, position: Position, timeoutMs: number): Promise<boolean> {
    const { view } = this.managed(name);
    if (!this.leases.processes.alone && !(view.whole && view.live !== undefined))
      return view.stored.wait(position, timeoutMs);
    if (!view.waiters.shows(position)) this.options.log.deliverNow?.(position);
    return view.waiters.wait(position, timeoutMs);
  }

  /** Why a view cannot yet prove that something does not exist; undefined once it can, because it shows all of the log up to a position. */
  async gap(name: string, position: Position, timeoutMs: number): Promise<Gap | undefined> {
    return (await this.waitFor(name, position, timeoutMs)) ? gapIn(this.managed(name).view) : BEHIND;
  }

  names(): readonly string[] {
    return [...this.views.keys()];
  }

  status(): Promise<readonly ProjectionStatus[]>;
  status(name: string): Promise<ProjectionStatus>;
  async status(name?: string): Promise<ProjectionStatus | readonly ProjectionStatus[]> {
    const asked = name === undefined ? [...this.views.values()] : [this.managed(name)];
    const parts: StatusParts = {
      ...this.options,
      ordinals: this.ordinals,
      leases: this.leases.processes.alone ? [] : await this.leases.status(),
    };
    const found = await Promise.all(asked.map((managed) => viewStatus(managed, parts)));
    return name === undefined ? found : (found[0] as ProjectionStatus);
  }

  /** Dead letters of the views that are served, oldest position first. */
  async deadLetters(): Promise<readonly DeadLetter[]> {
    const letters = await Promise.all(
      [...this.views.values()].map(async ({ view: { store, live, whole } }) =>
        whole && live !== undefined ? [...live.letters.values()] : storedLetters(store),
      ),
    );
    return letters.flat().toSorted((a, b) => (a.position < b.position ? -1 : 1));
  }

  /** Dead letters of all builds, served or not. One view per turn, because some read files. */
  async lettersOfBuilds(): Promise<readonly DeadLetter[]> {
    const letters: DeadLetter[] = [];
    for (const { view } of this.views.values()) {
      await nextTurn();
      for (const version of await view.store.versions()) letters.push(...(await view.store.letters(version)));
    }
    return letters;
  }

  /** Throws `not_found`. */
  async deadLetter(id: string): Promise<DeadLetter> {
    return (
      (await this.deadLetters()).find((letter) => letter.id === id) ??
      reject('not_found', { kind: 'deadLetter', id: id })
    );
  }

  /** Handles the event and the waiting ones after it again, in order. Resolves to the dead letter that is left, if any. */
  async retryDeadLetter(id: string): Promise<DeadLetter | undefined> {
    return this.replay(await this.deadLetter(id), 'retry');
  }

  /** Gives the event up, for rebuilds too, and handles what waits behind it. */
  async discardDeadLetter(id: string): Promise<DeadLetter | undefined> {
    return this.replay(await this.deadLetter(id), 'discard');
  }

  /** The rebuild of a view, for operators: runs here, or sends the request to the process that leads the view. */
  rebuild(name: string): RebuildControl {
    const managed = this.managed(name);
    const act =
      (action: RebuildAction) =>
      async (given: Json = null) => {
        if (this.leases.processes.alone || managed.leads) await managed.act(action, given);
        else await this.leases.requests.ask({ group: name, unit: 0, action, given });
      };
    const status = async (): Promise<RebuildStatus | undefined> =>
      rebuildStatus(managed, (await managed.view.store.live()) ?? 0);
    const [pause, resume, startOver] = [act('pause'), act('resume'), act('startOver')];
    const [cancel, swap, rollback, retire] = [act('cancel'), act('swap'), act('rollback'), act('retire')];
    return { start: act('start'), pause, resume, startOver, cancel, swap, rollback, retire, status };
  }

  /** True when every build of a view that stands there shows everything up to a position. */
  async buildsReached(name: string, position: Position): Promise<boolean> {
    const { view } = this.managed(name);
    const missing = await Promise.all(
      (await view.store.versions()).map((version) => view.stored.missing(version, position)),
    );
    return missing.every((event) => event === undefined);
  }

  /** Raises or ends the alarm of each view. Called on a timer. */
  async checkStalls(): Promise<void> {
    const { log } = this.options;
    const known = log.lastHead?.();
    const head = known === undefined ? await log.head() : known;
    for (const { view } of this.views.values())
      if (view.live !== undefined) this.stalls.check(view.name, view.live.position, head);
    await this.mark.advance(head);
  }

  private async renew(): Promise<void> {
    if (await this.mark.isOther()) await this.leases.renew();
  }

  private async mend(): Promise<void> {
    const { readStore, searchIndex } = this.options;
    const damaged = await Promise.all([readStore.damaged?.() ?? [], searchIndex.damaged?.() ?? []]);
    for (const { name, version } of damaged.flat()) await this.views.get(name)?.mend(version);
  }

  /** One read for all views: most of the time nobody has decided anything. */
  private async look(): Promise<void> {
    const stored = await storedRebuilds(this.options.readStore);
    await Promise.all([...this.views].map(([name, managed]) => managed.look(stored.get(name) ?? '')));
  }

  private async replay(letter: DeadLetter, action: 'retry' | 'discard'): Promise<DeadLetter | undefined> {
    const managed = this.managed(letter.name);
    const unit = managed.view.sliceOf(letter);
    if (this.leases.processes.alone || managed.view.held.has(unit))
      return managed.replay(letter, action === 'discard', this.options.clock.now());
    return ((await this.leases.requests.ask({ group: letter.name, unit, action, given: { id: letter.id } })) ??
      undefined) as DeadLetter | undefined;
  }

  /** What another process asks of a slice that this one holds. */
  private async serve({ group, unit, action, given }: Ask): Promise<{ readonly value: Json } | undefined> {
    const managed = this.views.get(group);
    if (managed?.view.held.has(unit) !== true) return undefined;
    if (action === 'retry' || action === 'discard') {
      const letter = await this.deadLetter((given as { readonly id: string }).id);
      return { value: letterJson(await managed.replay(letter, action === 'discard', this.options.clock.now())) };
    }
    await managed.act(
      REBUILD_ACTIONS.find((known) => known === action) ?? reject('not_found', { kind: 'action', id: action }),
      given,
    );
    return { value: null };
  }

  private managed(name: string): ManagedView {
    return this.views.get(name) ?? reject('not_found', { kind: 'projection', id: name });
  }
}

const storedLetters = async (store: ManagedView['view']['store']): Promise<readonly DeadLetter[]> => {
  const version = await store.live();
  return version === undefined || (await store.checkpoint(version, 0)) === undefined ? [] : store.letters(version);
};
