import { setTimeout as pause } from 'node:timers/promises';
import { type Calls, errorName, type Logger, type Mutex } from '@app/kernel';
import { CheckpointMismatch } from '@app/read-store';
import { describeError, isFenced } from '../dead-letter';
import { mustRun } from './rebuild-record';
import type { RebuildWorker } from './rebuild-worker';
import { retry, type Progress, runBuild } from './run-build';
import type { StoredRebuild } from './stored-rebuild';
import type { View } from '../views/view';

const POLL_MS = 250;

export interface RebuildWorkOptions {
  readonly view: View;
  /** Starts the worker; closed again when the rebuild no longer needs it. */
  readonly spawn: () => Calls<RebuildWorker>;
  /** Rebuilds take turns, so that they do not starve what is served. */
  readonly turns: Mutex;
  readonly logger: Logger;
  readonly progress: Progress;
  /** Brings all slices of the view to this process while `work` runs. */
  readonly gather: <T>(work: () => Promise<T>) => Promise<T>;
}

/** How a build comes to be served once it is whole. */
interface Placing {
  /** Beside the build before, which is kept for a way back. */
  swap(): Promise<void>;
  /** In place of an unfit build, which is dropped. */
  replace(): Promise<void>;
}

/** The work of a rebuild in this process: builds, verifies and has it placed. */
export class RebuildWork {
  private running: Promise<void> | undefined;
  private stopping = new AbortController();
  private calls: Calls<RebuildWorker> | undefined;

  constructor(
    private readonly options: RebuildWorkOptions,
    private readonly current: StoredRebuild,
    private readonly placing: Placing,
  ) {}

  get isRunning(): boolean {
    return this.running !== undefined;
  }

  /** Resolves when nothing is being done any more. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.calls?.call('stop', this.view.name);
    await this.running;
    this.running = undefined;
  }

  /** Works on the rebuild as it stands, until it is in its place, has failed or is stopped. */
  begin(): void {
    this.stopping = new AbortController();
    const { signal } = this.stopping;
    const running = retry(this.options, signal, () => this.work(signal))
      .catch(async (error: unknown) => {
        if (isFenced(error) || signal.aborted) return;
        this.options.logger.error({ view: this.view.name, error: describeError(error) }, 'Rebuild failed.');
        await this.current.save({ state: 'failed', failure: { reason: 'error', detail: describeError(error) } });
      })
      .catch((error: unknown) =>
        this.options.logger.error(
          { view: this.view.name, error: errorName(error) },
          'Storing the state of a rebuild failed.',
        ),
      )
      .finally(() => {
        if (this.running === running) this.running = undefined;
      });
    this.running = running;
  }

  /**
   * Builds the slices of this process, waits for those of others, and puts the complete build in place. It waits
   * outside of its turn, because the others may be waiting for this process to build slices of another view.
   */
  private async work(signal: AbortSignal): Promise<void> {
    let isBuilt = false;
    const isWhole = this.view.whole;
    await this.inTurn(signal, async (calls) => {
      isBuilt = await this.build(calls, signal);
      if (isBuilt && isWhole) await this.complete(calls, signal);
    });
    if (isBuilt && !isWhole && (await this.othersBuilt(signal)))
      await this.inTurn(signal, (calls) => this.complete(calls, signal));
  }

  private inTurn(signal: AbortSignal, work: (calls: Calls<RebuildWorker>) => Promise<void>): Promise<void> {
    return this.options.turns.inTurn(signal, async () => {
      const calls = this.options.spawn();
      this.calls = calls;
      try {
        await work(calls);
      } finally {
        this.calls = undefined;
        await calls.close();
      }
    });
  }

  /** Builds the slices of this process; false when it was stopped, or failed. */
  private async build(calls: Calls<RebuildWorker>, signal: AbortSignal): Promise<boolean> {
    const { outcome, failure } = await runBuild({
      ...this.options,
      calls,
      version: this.current.present().version,
      signal,
    });
    if (outcome === 'failed' && !signal.aborted)
      await this.current.save({ state: 'failed', ...(failure === undefined ? {} : { failure }) });
    return outcome === 'caught-up' && !signal.aborted;
  }

  private complete(calls: Calls<RebuildWorker>, signal: AbortSignal): Promise<void> {
    return this.current.present().reason === 'asked'
      ? this.options.gather(() => this.finish(calls, signal))
      : this.placing.replace();
  }

  /**
   * Waits for the slices of other processes; false if the rebuild was stopped, or failed elsewhere. Throws
   * `CheckpointMismatch` if a slice of this process is not built after all: a killed server may have lost confirmed
   * commits.
   */
  private async othersBuilt(signal: AbortSignal): Promise<boolean> {
    const { version, goal } = this.current.present();
    while (!this.view.whole) {
      const stored = await this.view.records.rebuild();
      if (stored?.version === version && stored.state === 'failed') this.current.take(stored);
      if (!mustRun(this.current.present()) || signal.aborted) return false;
      this.options.progress.at(await this.view.stored.handled(version));
      const missing = goal === null ? undefined : await this.view.stored.missing(version, goal);
      if (missing === undefined) return true;
      if (this.view.held.has(this.view.sliceOf(missing)))
        throw new CheckpointMismatch(`${this.view.name}/${version} has forgotten what was built`);
      await pause(POLL_MS);
    }
    return !signal.aborted;
  }

  private async finish(calls: Calls<RebuildWorker>, signal: AbortSignal): Promise<void> {
    await this.current.save({ state: 'verifying' });
    const { version, from, swap } = this.current.present();
    await this.view.followBeside(version);
    if (signal.aborted) return;
    const verification = await this.view.aligned(async (position, confirm) => {
      const found = await calls.call('verify', { view: this.view.name, version, live: from, position });
      // Where the store forgot what it had confirmed, that is the difference.
      if (!found.equal) await confirm();
      return found;
    });
    await this.current.save({ state: 'ready', verification });
    if (!signal.aborted && swap && verification.equal) await this.placing.swap();
  }

  private get view(): View {
    return this.options.view;
  }
}
