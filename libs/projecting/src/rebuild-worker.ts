import type { LogReader } from '@app/event-log';
import type { Clock, EventCodec, Position, StoredEvent } from '@app/kernel';
import { type DeadLetterReason, PoisonEvent } from './dead-letter';
import type { Projection } from './projection';
import { type FoldedPage, PageWriter } from './page-writer';
import { type Verification, verify } from './verification';
import { type ViewStores, viewStore } from './view-stores';
import type { ViewStore } from './view-store';

/** Events read and folded at once: few, since what lives briefly costs the garbage collector little. */
const PAGE = 500;

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
    const outcome = await batches(options.log, store, writer, run);
    return { outcome, handled: writer.checkpoint.handled };
  } catch (error) {
    if (!(error instanceof PoisonEvent)) throw error;
    const { id, type, stream, revision } = error.event;
    return { outcome: 'failed', handled: writer.checkpoint.handled, failure: { reason: error.reason, detail: error.detail, event: { id, type, stream, revision } } };
  }
};

/** Reads and applies the next batch while the one before is written. */
const batches = async (log: LogReader, store: ViewStore, writer: PageWriter, run: Run): Promise<'caught-up' | 'stopped'> => {
  let after = writer.checkpoint.position;
  let writing: Promise<void> = Promise.resolve();
  for (;;) {
    const { batch, upTo, end } = await foldBatch(log, store, writer, after);
    await writing;
    run.handled = writer.checkpoint.handled;
    if (run.stopping) return 'stopped';
    if (upTo !== null && upTo !== after) {
      writing = writer.write(batch, upTo);
      // It is awaited a batch later; until then a failure must not count as unhandled.
      writing.catch(() => undefined);
      after = upTo;
    }
    if (end) {
      await writing;
      run.handled = writer.checkpoint.handled;
      return 'caught-up';
    }
  }
};

/** Pages of the log folded into one batch. The events themselves are let go page by page: keeping them would cost more than reading them again when the store refuses the batch. */
const foldBatch = async (log: LogReader, { types, mostAtOnce }: ViewStore, writer: PageWriter, from: Position | null) => {
  const changes: { position: Position; operations: readonly unknown[] }[] = [];
  let handled = 0;
  for (let after = from; ; ) {
    const page = await log.readAll({ after, limit: Math.min(PAGE, mostAtOnce - handled), filter: { types } });
    const folded = await writer.fold(page.events);
    for (const change of folded.changes) changes.push(change);
    handled += folded.handled;
    after = page.next;
    if (!page.end && handled < mostAtOnce) continue;
    const batch: FoldedPage = { handled, changes, letters: new Map(), events: () => eventsBetween(log, types, from, after) };
    return { batch, upTo: after, end: page.end };
  }
};

const eventsBetween = async (log: LogReader, types: readonly string[], from: Position | null, upTo: Position | null): Promise<readonly StoredEvent[]> => {
  const events: StoredEvent[] = [];
  for (let after = from; ; ) {
    const page = await log.readAll({ after, limit: PAGE, filter: { types } });
    events.push(...page.events.filter((event) => upTo !== null && event.position <= upTo));
    if (page.end || page.next === null || (upTo !== null && page.next >= upTo)) return events;
    after = page.next;
  }
};
