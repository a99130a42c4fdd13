import { setTimeout as pause } from 'node:timers/promises';
import { type Calls, errorName, type Logger } from '@app/kernel';
import type { BuildOutcome, RebuildWorker } from './rebuild-worker';
import { isFenced, isTransient } from '../dead-letter';
import type { View } from '../views/view';

const RETRY_MS = 1_000;
const POLL_MS = 200;
/** Weight of the newest interval in the rate. */
const WEIGHT = 0.3;

/** How far a build is and how fast it goes: a moving average over what is reported. */
export class Progress {
  done = 0;
  /** Events a second. */
  rate = 0;
  private reportedAt: number | undefined;

  constructor(private readonly now: () => number = () => performance.now()) {}

  at(done: number): void {
    const time = this.now();
    if (this.reportedAt !== undefined && time > this.reportedAt) {
      const present = ((done - this.done) * 1_000) / (time - this.reportedAt);
      this.rate = this.rate === 0 ? present : this.rate + WEIGHT * (present - this.rate);
    }
    this.done = done;
    this.reportedAt = time;
  }
}

export interface RunBuildOptions {
  readonly view: View;
  readonly version: number;
  readonly calls: Calls<RebuildWorker>;
  readonly progress: Progress;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Has the worker build the slices of this process up to the head; failures of the stores are waited out. */
export const runBuild = async ({
  view,
  version,
  calls,
  progress,
  logger,
  signal,
}: RunBuildOptions): Promise<BuildOutcome> => {
  const poll = setInterval(
    () =>
      void calls.call('progress', view.name).then(
        (done) => progress.at(done),
        () => undefined,
      ),
    POLL_MS,
  ).unref();
  try {
    const outcome = await retry({ view, logger }, signal, () =>
      calls.call('build', {
        view: view.name,
        version,
        held: view.held,
        shared: view.store.slices > 1,
        skip: [...view.skip],
      }),
    );
    progress.at(outcome.handled);
    return outcome;
  } finally {
    clearInterval(poll);
  }
};

/** Failures of the stores, and slices that did not come together, are waited out. */
export const retry = async <T>(
  { view, logger }: Pick<RunBuildOptions, 'view' | 'logger'>,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> => {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || isFenced(error) || signal.aborted) throw error;
      logger.warn({ view: view.name, error: errorName(error) }, 'Rebuild interrupted; retrying.');
      await pause(RETRY_MS, undefined, { signal });
    }
  }
};
