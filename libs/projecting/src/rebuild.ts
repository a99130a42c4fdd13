import { setTimeout as pause } from 'node:timers/promises';
import { type Calls, refuse } from '@app/kernel';
import { describeError } from './dead-letter';
import type { ProjectingEvents } from './events';
import { errorName, type Logger } from './logger';
import type { Mutex } from './mutex';
import { Progress } from './progress';
import type { RebuildRecord, RebuildState } from './rebuild-record';
import type { BuildOutcome, RebuildWorker } from './rebuild-worker';
import { isFenced, isTransient } from './transient';
import type { Verification } from './verification';
import type { View } from './view';

const RETRY_MS = 1_000;
const POLL_MS = 200;

export interface RebuildOptions {
  readonly view: View;
  /** Starts the worker; closed again when the rebuild no longer needs it. */
  readonly spawn: () => Calls<RebuildWorker>;
  /** Rebuilds take turns, so that they do not starve what is served. */
  readonly turns: Mutex;
  readonly logger: Logger;
  readonly events: ProjectingEvents;
}

/** What is shown of a rebuild (wire, `GET /projections`). */
export interface RebuildStatus {
  readonly version: number;
  readonly done: number;
  readonly total: number;
  /** Events a second. */
  readonly rate: number;
  readonly etaSeconds: number | null;
  readonly state: RebuildState;
  readonly reason: RebuildRecord['reason'];
  readonly failure?: RebuildRecord['failure'];
  readonly verification?: Verification;
}

/** The rebuild of one view: a new build beside the live one, verified, swapped, kept for a way back, retired. */
export class Rebuild {
  private record: RebuildRecord | undefined;
  private running: Promise<void> | undefined;
  private stopping = new AbortController();
  private calls: Calls<RebuildWorker> | undefined;
  private readonly progress = new Progress();

  constructor(private readonly options: RebuildOptions) {}

  status(): RebuildStatus | undefined {
    if (this.record === undefined) return undefined;
    const { from: _, swap: __, fence: ___, ...shown } = this.record;
    const follower = [this.view.live, this.view.beside].find((candidate) => candidate?.version === shown.version);
    const done = Math.max(this.progress.done, follower?.count ?? 0);
    const total = Math.max(done, this.view.count);
    const { rate } = this.progress;
    return { ...shown, done, total, rate: Math.round(rate), etaSeconds: done >= total ? 0 : rate === 0 ? null : Math.ceil((total - done) / rate) };
  }

  /** Goes on with what stands in the store, after the view was opened: a rebuild survives the process. */
  async open(unfit: 'declaration' | 'ahead-of-log' | undefined): Promise<void> {
    this.record = await this.view.records.rebuild();
    if (this.record !== undefined) await this.save({ fence: this.view.fence });
    await this.reconcile();
    if (unfit === 'ahead-of-log' && this.record !== undefined) await this.remove();
    if (this.record !== undefined) this.progress.done = (await this.view.store.checkpoint(this.record.version))?.handled ?? 0;
    if (unfit !== undefined && this.record === undefined) await this.begin(unfit, true);
    else if (this.record !== undefined && mustRun(this.record)) this.run();
    else if (this.record?.state === 'ready') await this.view.followBeside(this.record.version);
    else if (this.record?.state === 'swapped') await this.view.followBeside(this.record.from);
    await this.dropOrphans();
  }

  /** Stops the work, not the rebuild: it goes on at the next `open`. */
  async close(): Promise<void> {
    this.stopping.abort();
    await this.calls?.call('stop', this.view.name);
    await this.running;
  }

  /** Begins to build the next version. Refuses with `rebuild_exists` while one is under way or not retired. */
  async start({ swap }: { readonly swap: boolean }): Promise<void> {
    if (this.record !== undefined) return refuse('rebuild_exists', { version: this.record.version, state: this.record.state });
    await this.begin('asked', swap);
  }

  async pause(): Promise<void> {
    await this.expect('building');
    await this.close();
    // It may have caught up or failed before it could be stopped.
    if (this.record?.state === 'building') await this.save({ state: 'paused' });
  }

  async resume(): Promise<void> {
    await this.expect('paused', 'failed');
    const { failure: _, ...rest } = this.present();
    await this.store({ ...rest, state: 'building' });
    this.run();
  }

  /** Drops what a paused or failed build holds, since content it has read was erased; it stays as it is and begins anew when resumed. */
  async startOver(): Promise<void> {
    await this.expect('paused', 'failed');
    const { version: old, ...rest } = this.present();
    const version = await this.view.nextVersion();
    await this.view.begin(version);
    await this.store({ ...rest, version });
    this.progress.done = 0;
    await this.view.remove(old);
  }

  /** Drops the new build. */
  async cancel(): Promise<void> {
    await this.expect('building', 'paused', 'failed', 'verifying', 'ready');
    await this.close();
    await this.expect('building', 'paused', 'failed', 'verifying', 'ready');
    await this.remove();
  }

  async swap(): Promise<void> {
    await this.exchange('ready', 'swapped');
  }

  /** Serves the build before again; the new one goes on following the log. */
  async rollback(): Promise<void> {
    await this.exchange('swapped', 'ready');
  }

  /** Drops the build before: from here there is no way back. */
  async retire(): Promise<void> {
    await this.expect('swapped');
    await this.remove();
  }

  private get view(): View {
    return this.options.view;
  }

  /** Stored before and after: before, so that a holder of the lease before finds out in time; after, so that the record is true. */
  private async exchange(from: RebuildState, to: RebuildState): Promise<void> {
    await this.expect(from);
    await this.save({});
    await this.view.swap();
    await this.save({ state: to });
  }

  private async begin(reason: RebuildRecord['reason'], swap: boolean): Promise<void> {
    const version = await this.view.nextVersion();
    await this.store({ version, from: this.view.served, reason, state: 'building', swap, fence: this.view.fence });
    await this.view.begin(version);
    if (reason !== 'asked') this.options.logger.warn({ view: this.view.name, version, reason }, 'the live build is unfit; building another beside it');
    this.run();
  }

  private run(): void {
    this.stopping = new AbortController();
    const { signal } = this.stopping;
    this.running = this.options.turns
      .run(() => this.work(signal))
      .catch(async (error: unknown) => {
        if (isFenced(error) || signal.aborted) return;
        this.options.logger.error({ view: this.view.name, error: describeError(error) }, 'a rebuild failed');
        await this.save({ state: 'failed', failure: { reason: 'error', detail: describeError(error) } });
      })
      .catch((error: unknown) => this.options.logger.error({ view: this.view.name, error: errorName(error) }, 'the state of a rebuild could not be stored'));
  }

  private async work(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.calls = this.options.spawn();
    try {
      const { outcome, failure } = await this.build(this.calls, signal);
      if (outcome === 'stopped' || signal.aborted) return;
      if (outcome === 'failed') return await this.save({ state: 'failed', ...(failure === undefined ? {} : { failure }) });
      if (this.present().reason !== 'asked') return await this.replaceUnfit();
      await this.verify(this.calls);
      if (!signal.aborted && this.present().swap && this.present().verification?.equal === true) await this.swap();
    } finally {
      const calls = this.calls;
      this.calls = undefined;
      await calls.close();
    }
  }

  /** Builds up to the head; failures of the stores are waited out. */
  private async build(calls: Calls<RebuildWorker>, signal: AbortSignal): Promise<BuildOutcome> {
    const { name, fence, skip } = this.view;
    const poll = setInterval(() => void calls.call('progress', name).then((done) => this.progress.at(done), () => undefined), POLL_MS).unref();
    try {
      for (;;) {
        try {
          const outcome = await calls.call('build', { view: name, version: this.present().version, fence, skip: [...skip] });
          this.progress.at(outcome.handled);
          return outcome;
        } catch (error) {
          if (!isTransient(error) || isFenced(error)) throw error;
          this.options.logger.warn({ view: name, error: errorName(error) }, 'a rebuild was interrupted; trying again');
          await pause(RETRY_MS, undefined, { signal });
        }
      }
    } finally {
      clearInterval(poll);
    }
  }

  private async verify(calls: Calls<RebuildWorker>): Promise<void> {
    await this.save({ state: 'verifying' });
    const { version, from } = this.present();
    await this.view.followBeside(version);
    const verification = await this.view.aligned((position) => calls.call('verify', { view: this.view.name, version, live: from, position }));
    await this.save({ state: 'ready', verification });
  }

  private async replaceUnfit(): Promise<void> {
    await this.view.replace(this.present().version);
    await this.remove();
    this.options.logger.info({ view: this.view.name, version: this.view.served }, 'an unfit build was replaced');
  }

  /** Makes the record true where the process died between a step and its record. */
  private async reconcile(): Promise<void> {
    if (this.record === undefined) return;
    const { version, from, state, reason } = this.record;
    const served = this.view.served;
    const other = served === version ? from : version;
    const done = served === version && reason !== 'asked';
    if (state === 'removing' || done || !(await this.view.isFit(other))) await this.remove();
    else if (served === version && state !== 'swapped') await this.save({ state: 'swapped' });
    else if (served === from && state === 'swapped') await this.save({ state: 'ready' });
  }

  private async remove(): Promise<void> {
    await this.save({ state: 'removing' });
    const { version, from } = this.present();
    await this.view.remove(this.view.served === version ? from : version);
    await this.view.records.saveRebuild(null, this.record);
    this.record = undefined;
  }

  private async dropOrphans(): Promise<void> {
    const known = new Set([this.view.served, this.record?.version, this.record?.from]);
    for (const version of await this.view.store.versions()) if (!known.has(version)) await this.view.remove(version);
  }

  private present(): RebuildRecord {
    return this.record ?? refuse('no_rebuild');
  }

  private async expect(...states: readonly RebuildState[]): Promise<void> {
    const { state } = this.present();
    if (!states.includes(state)) refuse('rebuild_not_ready', { state });
  }

  private save(changes: Partial<RebuildRecord>): Promise<void> {
    return this.store({ ...this.present(), ...changes });
  }

  private async store(record: RebuildRecord): Promise<void> {
    await this.view.records.saveRebuild(record, this.record);
    this.record = record;
    this.options.events.emit('rebuild', { view: this.view.name, version: record.version, state: record.state });
  }
}

/** A rebuild that nobody asked for is tried again at every start, since the view is not brought up before it is done. */
const mustRun = ({ state, reason }: RebuildRecord): boolean => state === 'building' || state === 'verifying' || (state === 'failed' && reason !== 'asked');
