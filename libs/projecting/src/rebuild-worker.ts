import type { LogPage, LogReader } from '@app/event-log';
import type { Clock, EventCodec, Position, StoredEvent } from '@app/kernel';
import { type DeadLetterReason, PoisonEvent } from './dead-letter';
import type { Projection } from './projection';
import { PageWriter } from './page-writer';
import { type Verification, verify } from './verification';
import { type ViewStores, viewStore } from './view-stores';
import type { ViewStore } from './view-store';

/** Events of one commit: many, since rows that change often in it are written once. */
const BATCH = 4_000;

export interface BuildTask {
  readonly view: string;
  readonly version: number;
  readonly fence: number;
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
  /** Events handled by this build in all. */
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
  /** Compares two builds; neither may be written meanwhile. */
  verify(task: VerifyTask): Promise<Verification>;
  close(): void;
}

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
  const storeOf = (view: string): ViewStore => {
    const projection = options.projections.find(({ name }) => name === view);
    if (projection === undefined) throw new Error(`there is no projection ${view}`);
    return viewStore(projection, options);
  };
  return {
    build: async (task) => {
      const run: Run = { handled: 0, stopping: false };
      runs.set(task.view, run);
      return build(options, storeOf(task.view), task, run);
    },
    progress: (view) => runs.get(view)?.handled ?? 0,
    stop: (view) => {
      const run = runs.get(view);
      if (run !== undefined) run.stopping = true;
    },
    verify: (task) => verify(storeOf(task.view), task.version, task.live, task.position),
    close: async () => options.onClose?.(),
  };
};

interface Run {
  handled: number;
  stopping: boolean;
}

const build = async (options: RebuildWorkerOptions, store: ViewStore, task: BuildTask, run: Run): Promise<BuildOutcome> => {
  await store.prepare(task.version);
  const writer = await PageWriter.open({ ...options, ...task, store, skip: new Set(task.skip), onPoison: 'stop' });
  try {
    const outcome = await pages(options.log, store.types, writer, run);
    return { outcome, handled: writer.checkpoint.handled };
  } catch (error) {
    if (!(error instanceof PoisonEvent)) throw error;
    const { id, type, stream, revision } = error.event;
    return { outcome: 'failed', handled: writer.checkpoint.handled, failure: { reason: error.reason, detail: error.detail, event: { id, type, stream, revision } } };
  }
};

/** Reads and applies the next batch while the one before is written. */
const pages = async (log: LogReader, types: readonly string[], writer: PageWriter, run: Run): Promise<'caught-up' | 'stopped'> => {
  let after = writer.checkpoint.position;
  let writing: Promise<void> = Promise.resolve();
  for (;;) {
    const { events, next, end } = await readBatch(log, types, after);
    const folded = await writer.fold(events);
    await writing;
    run.handled = writer.checkpoint.handled;
    if (run.stopping) return 'stopped';
    if (next !== null && next !== after) {
      writing = writer.write(folded, next);
      // It is awaited a batch later; until then a failure must not count as unhandled.
      writing.catch(() => undefined);
      after = next;
    }
    if (end) {
      await writing;
      run.handled = writer.checkpoint.handled;
      return 'caught-up';
    }
  }
};

/** Pages of the log as one: a page may be short, since a log ends pages that take long. */
const readBatch = async (log: LogReader, types: readonly string[], from: Position | null): Promise<LogPage> => {
  const events: StoredEvent[] = [];
  for (let after = from; ; ) {
    const page = await log.readAll({ after, limit: BATCH - events.length, filter: { types } });
    for (const event of page.events) events.push(event);
    after = page.next;
    if (page.end || events.length >= BATCH) return { events, next: after, end: page.end };
  }
};
