import type { LogReader } from '@app/event-log';
import type { Clock } from '@app/kernel';
import { describeError } from '../dead-letter';
import { PageWriter } from '../following/page-writer';
import type { EventReader } from '../following/shared-reader';
import type { ViewStore } from '../views/view-store';
import { BuildParts } from './build-parts';
import { buildJointly, type JointBuild, JointRun } from './joint-build';

/** One version of a view that a thread is to build. */
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

/** Catches up views that are far behind, callable from another thread. */
export interface CatchUpWorker {
  /** Brings builds of several views to the end of the log together. Returns the reason for each view that failed. */
  catchUp(tasks: readonly BuildTask[]): Promise<Readonly<Record<string, string>>>;
  /** Ends a build's part in that after the page in hand; resolves when it is written. */
  stopCatchUp(build: Pick<BuildTask, 'view' | 'version'>): Promise<void>;
  close(): Promise<void>;
}

/** What a thread that builds reads from. */
export interface CatchUpOptions {
  readonly log: LogReader;
  /** Undefined for views of context alone. */
  readonly codec: EventReader | undefined;
  readonly clock: Clock;
  /** Closes the connections that were opened for this worker alone. */
  readonly onClose?: () => Promise<void>;
}

/** Catches up the builds that it is given over one reading of the log. `storeOf` names the store of a view. */
export const catchUpWorker = (
  options: CatchUpOptions,
  storeOf: (view: string, shared: boolean) => ViewStore,
): CatchUpWorker => {
  const catchingUp = new Map<string, JointRun>();
  return {
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
    close: async () => options.onClose?.(),
  };
};

const buildName = ({ view, version }: Pick<BuildTask, 'view' | 'version'>): string => `${view}/${version}`;

/** Opens the slices of a build that a task names. */
export const partsOf = async (
  options: Pick<CatchUpOptions, 'codec' | 'clock'>,
  store: ViewStore,
  task: BuildTask,
): Promise<BuildParts> => {
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
