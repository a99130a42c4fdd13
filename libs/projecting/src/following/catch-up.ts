import type { LogReader } from '@app/event-log';
import { type Calls, errorName, type Logger, type Position } from '@app/kernel';
import type { BuildTask, CatchUpWorker } from '../rebuild/catch-up-worker';

/** Views fall behind together, but notice it one after the other: a run waits this long for more of them. */
const GATHERED_MS = 100;

/** Events of a view that it handles without reaching the end of the log. Beyond that, a thread catches the view up. */
export const FAR_EVENTS = 1_000;

type Build = Pick<BuildTask, 'view' | 'version'>;

/** Brings a build to the end of the log faster than following does. */
export interface CatchUp {
  /** Resolves when the view has caught up, failed or was stopped. */
  run(task: BuildTask): Promise<void>;
  /** After the page in hand. */
  stop(build: Build): void;
}

/**
 * True if more events follow a position than a view handles by itself, as after a restore or an outage. The thread that
 * serves then reads nothing that most views pass over. If the log does not answer, false: the subscription asks again
 * and reports it.
 */
export const isFarBehind = (log: Pick<LogReader, 'readAll'>, after: Position | null): Promise<boolean> =>
  log.readAll({ after, limit: FAR_EVENTS }).then(
    ({ end }) => !end,
    () => false,
  );

interface Waiting {
  readonly task: BuildTask;
  readonly resolve: () => void;
}

/**
 * Catches up views that are far behind, all together, in a thread: the log is read once for all of them, and they
 * commit in large batches. Views that arrive during a run join the next run.
 */
export class CatchUps implements CatchUp {
  private waiting: Waiting[] = [];
  private running: { readonly calls: Calls<CatchUpWorker>; readonly builds: readonly Waiting[] } | undefined;
  private isGathering = false;

  constructor(
    private readonly spawn: () => Calls<CatchUpWorker>,
    private readonly logger: Logger,
  ) {}

  run(task: BuildTask): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push({ task, resolve });
      void this.runAll();
    });
  }

  stop(build: Build): void {
    const isMeant = ({ task }: Waiting): boolean => task.view === build.view && task.version === build.version;
    for (const { resolve } of this.waiting.filter(isMeant)) resolve();
    this.waiting = this.waiting.filter((each) => !isMeant(each));
    const running = this.running?.builds.find(isMeant);
    if (running === undefined) return;
    // Where the thread is gone the run ends too, and lets go of all.
    this.running?.calls
      .call('stopCatchUp', build)
      .then(running.resolve, (error: unknown) =>
        this.logger.warn({ ...build, error: errorName(error) }, 'Stopping the catch-up of a view failed.'),
      );
  }

  private async runAll(): Promise<void> {
    if (this.isGathering) return;
    this.isGathering = true;
    while (this.waiting.length > 0) {
      await new Promise((resolve) => setTimeout(resolve, GATHERED_MS));
      const builds = this.waiting;
      this.waiting = [];
      if (builds.length > 0) await this.runTogether(builds);
    }
    this.isGathering = false;
  }

  /** After a failure, normal following continues from the state of the store. */
  private async runTogether(builds: readonly Waiting[]): Promise<void> {
    const calls = this.spawn();
    this.running = { calls, builds };
    try {
      const failed = await calls.call(
        'catchUp',
        builds.map(({ task }) => task),
      );
      for (const [view, error] of Object.entries(failed))
        this.logger.warn({ view, error }, 'Catching up a view failed. It follows the log from its present position.');
    } catch (error) {
      this.logger.warn(
        { error: errorName(error) },
        'Catching up views failed. They follow the log from their present positions.',
      );
    } finally {
      this.running = undefined;
      for (const { resolve } of builds) resolve();
      await calls.close();
    }
  }
}
