import type { LogReader } from '@app/event-log';
import type { Calls, EventCodec, Position, StoredEvent } from '@app/kernel';
import { type DeadLetterReason, PoisonEvent } from '../dead-letter';
import type { Projection } from '../projection';
import type { BuildParts } from './build-parts';
import { type BuildTask, type CatchUpOptions, type CatchUpWorker, catchUpWorker, partsOf } from './catch-up-worker';
import { type Verification, verify } from './verification';
import { type ViewStores, viewStore } from '../views/view-stores';
import type { ViewStore } from '../views/view-store';

/**
 * Events that are read and folded together: few, so their text is still in the processor's cache when it is parsed, and
 * is soon released.
 */
const PAGE = 200;

/** Why a build ended early. With an event: an operator fixes the code or discards the event, and resumes. */
export interface BuildFailure {
  readonly reason: DeadLetterReason | 'error';
  readonly detail: string;
  readonly event?: { readonly id: string; readonly type: string; readonly stream: string; readonly revision: number };
}

/** What came of a build. */
export interface BuildOutcome {
  readonly outcome: 'caught-up' | 'stopped' | 'failed';
  /** Events of the slices handled by this build in all. */
  readonly handled: number;
  readonly failure?: BuildFailure;
}

/** A new version of a view that is compared with the live one, both as of a position. */
export interface VerifyTask {
  readonly view: string;
  readonly version: number;
  readonly live: number;
  readonly position: Position | null;
}

/** The heavy part of rebuilds, callable from another thread. */
export interface RebuildWorker extends CatchUpWorker {
  /** Builds from the version's checkpoint to the end of the log. A poisonous event ends it; what was built is kept. */
  build(task: BuildTask): Promise<BuildOutcome>;
  /** Events handled by the build of a view so far. */
  progress(view: string): number;
  /** Ends the build of a view after the page in hand. */
  stop(view: string): void;
  /** Compares two builds; neither may be written meanwhile. */
  verify(task: VerifyTask): Promise<Verification>;
}

/** Starts the threads that bring views to the end of the log beside the one that serves. */
export interface RebuildThreads {
  rebuild(): Calls<RebuildWorker>;
  /** Catches up views that read the context of events alone, beside the others, which read and decrypt their data. */
  context(): Calls<CatchUpWorker>;
}

/** What a thread that rebuilds reads from and writes to. */
export interface RebuildWorkerOptions extends ViewStores, CatchUpOptions {
  readonly codec: EventCodec;
  readonly projections: readonly Projection[];
}

/**
 * In a separate thread with its own connections: `serveCalls(rebuildWorker(...))`; in this thread:
 * `callHere(rebuildWorker(...))`.
 */
export const rebuildWorker = (options: RebuildWorkerOptions): RebuildWorker => {
  const runs = new Map<string, Run>();
  const storeOf = (view: string, shared: boolean): ViewStore => {
    const projection = options.projections.find(({ name }) => name === view);
    if (projection === undefined) throw new Error(`unknown projection ${view}`);
    return viewStore(projection, options, shared);
  };
  return {
    ...catchUpWorker(options, storeOf),
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
    verify: (task) => verify(storeOf(task.view, false), task.version, task.live, task.position),
  };
};

interface Run {
  handled: number;
  stopping: boolean;
}

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

/**
 * Pages of the log that are folded into one batch. The events are released page by page: keeping them would cost more
 * than reading them again when the store rejects the batch.
 */
const foldBatch = async (
  log: LogReader,
  { types, mostAtOnce }: ViewStore,
  parts: BuildParts,
  from: Position | null,
) => {
  const folded = parts.batch(mostAtOnce, (after) => eventsBetween(log, types, from, after));
  for (let after = from; ;) {
    const page = await log.readAll({ after, limit: Math.min(PAGE, folded.remaining), filter: { types } });
    await folded.add(page.events);
    after = page.next;
    if (page.end || folded.remaining === 0) return { batch: folded.pages(after), upTo: after, end: page.end };
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
