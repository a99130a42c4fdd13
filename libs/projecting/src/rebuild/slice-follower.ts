import { type Calls, errorName, type Logger, type Mutex } from '@app/kernel';
import { describeError, isFenced } from '../dead-letter';
import type { RebuildRecord } from './rebuild-record';
import type { RebuildWorker } from './rebuild-worker';
import { type Progress, runBuild } from './run-build';
import type { View } from '../views/view';

export interface SliceFollowerOptions {
  readonly view: View;
  readonly spawn: () => Calls<RebuildWorker>;
  readonly turns: Mutex;
  readonly logger: Logger;
  readonly progress: Progress;
}

/**
 * Works on slices of a view whose first slice another process holds: follows the builds that stand there, and builds its
 * slices of a rebuild that the other has begun. What the other decides is read from the store.
 */
export class SliceFollower {
  private looking: Promise<void> | undefined;
  private building:
    { readonly version: number; readonly stop: AbortController; readonly done: Promise<void> } | undefined;
  /** The build whose slices of this process have caught up. */
  private built: number | undefined;
  private closed = true;
  private readonly fit = new Map<number, boolean>();

  constructor(private readonly options: SliceFollowerOptions) {}

  async open(held: ReadonlyMap<number, number>): Promise<void> {
    this.closed = false;
    this.fit.clear();
    await this.options.view.hold(held);
    await this.look();
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.looking;
    await this.stopBuilding();
    this.built = undefined;
  }

  /** Reads what the other has decided since, and does it. */
  look(): Promise<void> {
    if (this.closed) return Promise.resolve();
    this.looking ??= this.attend()
      .catch((error: unknown) =>
        this.options.logger.warn(
          { view: this.options.view.name, error: errorName(error) },
          'Following a rebuild failed; retrying.',
        ),
      )
      .finally(() => (this.looking = undefined));
    return this.looking;
  }

  private async attend(): Promise<void> {
    const { view } = this.options;
    const [record, live] = [await view.records.rebuild(), await view.store.live()];
    const other = record === undefined ? undefined : live === record.version ? record.from : record.version;
    const isOurs = other !== undefined && (await this.isFit(other));
    const isBuilding = isOurs && record?.state === 'building' && other === record.version;
    if (isBuilding) this.build(record);
    else await this.stopBuilding();
    const follows =
      isOurs &&
      (isBuilding
        ? this.built === other
        : record?.state === 'verifying' || record?.state === 'ready' || record?.state === 'swapped');
    await view.attend(live !== undefined && (await this.isFit(live)) ? live : undefined, follows ? other : undefined);
  }

  /** A build is of one declaration for ever, and of one log until all begins anew. */
  private async isFit(version: number): Promise<boolean> {
    const known = this.fit.get(version) ?? (await this.options.view.isFit(version));
    this.fit.set(version, known);
    return known;
  }

  private build(record: RebuildRecord): void {
    if (this.building?.version === record.version || this.built === record.version) return;
    const stop = new AbortController();
    const done = this.options.turns
      .inTurn(stop.signal, () => this.work(record, stop.signal))
      .catch((error: unknown) => this.failed(record, error, stop.signal));
    this.building = { version: record.version, stop, done };
  }

  private async work(record: RebuildRecord, signal: AbortSignal): Promise<void> {
    const { view, spawn, logger } = this.options;
    const calls = spawn();
    const stop = (): void =>
      void calls
        .call('stop', view.name)
        .catch((error: unknown) =>
          logger.warn({ view: view.name, error: errorName(error) }, 'Stopping a build failed. Waiting until it ends.'),
        );
    signal.addEventListener('abort', stop, { once: true });
    try {
      const { outcome, failure } = await runBuild({ ...this.options, calls, version: record.version, signal });
      if (outcome === 'caught-up') this.built = record.version;
      if (outcome === 'failed' && failure !== undefined) await this.save(record, failure);
    } finally {
      signal.removeEventListener('abort', stop);
      this.building = undefined;
      await calls.close();
      void this.look();
    }
  }

  private async failed(record: RebuildRecord, error: unknown, signal: AbortSignal): Promise<void> {
    this.building = undefined;
    if (isFenced(error) || signal.aborted) return;
    this.options.logger.error({ view: this.options.view.name, error: describeError(error) }, 'Rebuild failed.');
    await this.save(record, { reason: 'error', detail: describeError(error) }).catch((rejected: unknown) =>
      this.options.logger.warn(
        { view: this.options.view.name, error: errorName(rejected) },
        'Storing the failure of a rebuild failed.',
      ),
    );
  }

  /** The holder of the first slice learns of it from the record. */
  private async save(record: RebuildRecord, failure: NonNullable<RebuildRecord['failure']>): Promise<void> {
    const failed: RebuildRecord = { ...record, state: 'failed', failure };
    await this.options.view.records.saveRebuild(failed, record);
  }

  private async stopBuilding(): Promise<void> {
    const building = this.building;
    this.building = undefined;
    building?.stop.abort();
    await building?.done;
  }
}
