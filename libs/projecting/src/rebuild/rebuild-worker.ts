import type { LogReader } from '@app/event-log';
import type { Clock, EventCodec, Position, StoredEvent } from '@app/kernel';
import { type DeadLetterReason, describeError, PoisonEvent } from '../dead-letter';
import type { Projection } from '../projection';
import { BuildParts } from './build-parts';
import { buildJointly, type JointBuild, JointRun } from './joint-build';
import { PageWriter } from '../following/page-writer';
import { type Verification, verify } from './verification';
import { type ViewStores, viewStore } from '../views/view-stores';
import type { ViewStore } from '../views/view-store';

/** Events read and folded at once: few, so that their text is still in the processor's cache when it is parsed, and lives briefly. */
const PAGE = 200;

export interface BuildTask {
  readonly view: string;
  readonly version: number;
  /** The slices to build, each with the fence of its lease. */
  readonly held: ReadonlyMap<number, number>;
  /** Whether the view is divided into slices that projectors share. */
  readonly shared: boolean;
  /** Ids of discarded events. */
  readonly skip: readonly string[];
}

/** Why a build ended before its time. With an event: an operator repairs the code or discards the event, and resumes. */
export interface BuildFailure {
  readonly reason: DeadLetterReason | 'error';
  readonly detail: string;
  readonly event?: { readonly id: string; readonly type: string; readonly stream: string; readonly revision: number };
}

export interface BuildOutcome {
  readonly outcome: 'caught-up' | 'stopped' | 'failed';
  /** Events of the slices handled by this build in all. */
  readonly handled: number;
  readonly failure?: BuildFailure;
}

export interface VerifyTask {
  readonly view: string;
  readonly version: number;
  readonly live: number;
  readonly position: Position | null;
}

/** The heavy part of rebuilds, callable from another thread. */
export interface RebuildWorker {
  /** Builds from the version's checkpoint to the end of the log. A poisonous event ends it; what was built is kept. */
  build(task: BuildTask): Promise<BuildOutcome>;
  /** Events handled by the build of a view so far. */
  progress(view: string): number;
  /** Ends the build of a view after the page in hand. */
  stop(view: string): void;
  /** Brings builds of several views to the end of the log together. Answers why those that could not go on did not, by view. */
  catchUp(tasks: readonly BuildTask[]): Promise<Readonly<Record<string, string>>>;
  /** Ends a build's part in that after the page in hand; resolves when it is written. */
  stopCatchUp(build: Pick<BuildTask, 'view' | 'version'>): Promise<void>;
  /** Compares two builds; neither may be written meanwhile. */
  verify(task: VerifyTask): Promise<Verification>;
  close(): Promise<void>;
}

/** `context` catches up views that read the context of events alone, beside the others, which read and decrypt their data. */
export type RebuildThread = 'rebuild' | 'context';

export interface RebuildWorkerOptions extends ViewStores {
  readonly log: LogReader;
  readonly codec: EventCodec;
  readonly clock: Clock;
  readonly projections: readonly Projection[];
  /** Closes the connections that were opened for this worker alone. */
  readonly onClose?: () => Promise<void>;
}

/** For a thread of its own with connections of its own: `serveCalls(rebuildWorker(...))`; for this thread: `callHere(rebuildWorker(...))`. */
export const rebuildWorker = (options: RebuildWorkerOptions): RebuildWorker => {
  const runs = new Map<string, Run>();
  const catchingUp = new Map<string, JointRun>();
  const storeOf = (view: string, shared: boolean): ViewStore => {
    const projection = options.projections.find(({ name }) => name === view);
    if (projection === undefined) throw new Error(`unknown projection ${view}`);
    return viewStore(projection, options, shared);
  };
  return {
    build: async (task) => {
      const run: Run = { handled: 0, stopping: false };
      runs.set(task.view, run);
      return build(options, storeOf(task.view, task.shared), task, run);
    },
    progress: (view) => runs.get(view)?.handled ?? 0,
    stop: (view) => {
      const run = runs.get(view);
      if (run !== undefined) run.stopping = true;
    },
    catchUp: async (tasks) => {
      const failed: Record<string, string> = {};
      const builds: JointBuild[] = [];
      for (const task of tasks) {
        const run = new JointRun();
        catchingUp.set(buildName(task), run);
        const store = storeOf(task.view, task.shared);
        try {
          builds.push({ store, run, parts: await partsOf(options, store, task) });
        } catch (error) {
          failed[task.view] = describeError(error);
          run.end();
        }
      }
      return { ...failed, ...(await buildJointly(options.log, builds)) };
    },
    stopCatchUp: async (task) => {
      const run = catchingUp.get(buildName(task));
      if (run === undefined) return;
      run.stopping = true;
      await run.ended;
    },
    verify: (task) => verify(storeOf(task.view, false), task.version, task.live, task.position),
    close: async () => options.onClose?.(),
  };
};

interface Run {
  handled: number;
  stopping: boolean;
}

const buildName = ({ view, version }: Pick<BuildTask, 'view' | 'version'>): string => `${view}/${version}`;

const partsOf = async (options: RebuildWorkerOptions, store: ViewStore, task: BuildTask): Promise<BuildParts> => {
  await store.prepare(task.version);
  const open = async ([slice, fence]: [number, number]) =>
    [
      slice,
      await PageWriter.open({
        ...options,
        version: task.version,
        store,
        slice,
        fence,
        skip: new Set(task.skip),
        onPoison: 'stop',
      }),
    ] as const;
  return new BuildParts(store.slices, new Map(await Promise.all([...task.held].map(open))));
};

const build = async (
  options: RebuildWorkerOptions,
  store: ViewStore,
  task: BuildTask,
  run: Run,
): Promise<BuildOutcome> => {
  const parts = await partsOf(options, store, task);
  try {
    const outcome = await batches(options.log, store, parts, run);
    return { outcome, handled: parts.handled };
  } catch (error) {
    if (!(error instanceof PoisonEvent)) throw error;
    const { id, type, stream, revision } = error.event;
    return {
      outcome: 'failed',
      handled: parts.handled,
      failure: { reason: error.reason, detail: error.detail, event: { id, type, stream, revision } },
    };
  }
};

/** Reads and applies the next batch while the one before is written. */
const batches = async (
  log: LogReader,
  store: ViewStore,
  parts: BuildParts,
  run: Run,
): Promise<'caught-up' | 'stopped'> => {
  let after = parts.position;
  let writing: Promise<void> = Promise.resolve();
  for (;;) {
    const { batch, upTo, end } = await foldBatch(log, store, parts, after);
    await writing;
    run.handled = parts.handled;
    if (run.stopping) return 'stopped';
    if (upTo !== null && upTo !== after) {
      writing = parts.write(batch, upTo);
      // It is awaited a batch later; until then a failure must not count as unhandled.
      writing.catch(() => undefined);
      after = upTo;
    }
    if (end) {
      await writing;
      run.handled = parts.handled;
      return 'caught-up';
    }
  }
};

/** Pages of the log folded into one batch. The events themselves are let go page by page: keeping them would cost more than reading them again when the store rejects the batch. */
const foldBatch = async (
  log: LogReader,
  { types, mostAtOnce }: ViewStore,
  parts: BuildParts,
  from: Position | null,
) => {
  const folded = parts.batch(mostAtOnce, (after) => eventsBetween(log, types, from, after));
  for (let after = from; ;) {
    const page = await log.readAll({ after, limit: Math.min(PAGE, folded.room), filter: { types } });
    await folded.add(page.events);
    after = page.next;
    if (page.end || folded.room === 0) return { batch: folded.pages(after), upTo: after, end: page.end };
  }
};

const eventsBetween = async (
  log: LogReader,
  types: readonly string[],
  from: Position | null,
  upTo: Position | null,
): Promise<readonly StoredEvent[]> => {
  const events: StoredEvent[] = [];
  for (let after = from; ;) {
    const page = await log.readAll({ after, limit: PAGE, filter: { types } });
    for (const event of page.events) if (upTo !== null && event.position <= upTo) events.push(event);
    if (page.end || page.next === null || (upTo !== null && page.next >= upTo)) return events;
    after = page.next;
  }
};
