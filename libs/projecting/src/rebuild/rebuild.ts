import { canonicalJson, reject } from '@app/kernel';
import type { ProjectingEvents } from '../events';
import { mustRun, type RebuildRecord, type RebuildState } from './rebuild-record';
import { RebuildWork, type RebuildWorkOptions } from './rebuild-steps';
import { StoredRebuild } from './stored-rebuild';
import type { Unfitness, View } from '../views/view';

/** Tells whether a living process has a declaration of the projection. */
type IsDeclared = (declaration: string | undefined) => boolean;

export interface RebuildOptions extends RebuildWorkOptions {
  readonly events: ProjectingEvents;
  /** True when no living process has a newer declaration of the projection. */
  readonly isNewest: () => boolean;
  readonly isDeclared: IsDeclared;
}

/**
 * The rebuild of one view: a new build beside the live one, verified, swapped, kept for a way back, retired. Run by the
 * holder of the view's first slice; those of other slices build their own (`SliceFollower`).
 */
export class Rebuild {
  private readonly current: StoredRebuild;
  private readonly work: RebuildWork;

  constructor(private readonly options: RebuildOptions) {
    this.current = new StoredRebuild(options.view, options.events);
    this.work = new RebuildWork(options, this.current, {
      swap: () => this.swap(),
      replace: () => this.replaceUnfit(),
    });
  }

  /** The rebuild as it stands; undefined where there is none. */
  get state(): RebuildRecord | undefined {
    return this.current.record;
  }

  /** Continues from the stored state after the view was opened: a rebuild survives the process. */
  async open(found: Unfitness | undefined): Promise<void> {
    const stored = await this.view.records.rebuild();
    const belongsToOthers = stored !== undefined && (await isOthers(this.view, stored, this.options.isDeclared));
    this.current.take(belongsToOthers ? undefined : stored);
    if (!belongsToOthers && stored !== undefined) await this.current.save({ fence: this.view.fence });
    if (!belongsToOthers) await this.reconcile();
    const unfit = found === 'damaged' && (await this.fallBack()) ? undefined : found;
    if ((unfit === 'ahead-of-log' || unfit === 'damaged' || (await this.isGone())) && this.state !== undefined)
      await this.remove();
    if (this.state !== undefined) this.options.progress.done = await this.view.stored.handled(this.state.version);
    if (this.state !== undefined) await this.goOn(this.state);
    else if (unfit !== undefined && !belongsToOthers && (unfit !== 'declaration' || this.options.isNewest()))
      await this.begin(unfit, true);
    await dropOrphans(this.view, [stored, this.state], this.options.isDeclared);
  }

  /** Stops the work, not the rebuild: it goes on at the next `open`. */
  close(): Promise<void> {
    return this.work.stop();
  }

  /**
   * True if the stored state differs from this process's, if no process does the pending work, or if this process must
   * now replace an unfit build.
   */
  isOutdated(): Promise<boolean> {
    return this.current.settled(async () => {
      if (this.work.isRunning) return false;
      if ((await this.view.store.live()) !== this.view.served) return true;
      const stored = await this.view.records.rebuild();
      if (this.state === undefined && stored !== undefined)
        return !(await isOthers(this.view, stored, this.options.isDeclared));
      if (this.state === undefined) return this.view.live === undefined && this.options.isNewest();
      const isAbandoned = this.state.state === 'building' || this.state.state === 'verifying';
      return isAbandoned || canonicalJson(this.state) !== canonicalJson(stored ?? null);
    });
  }

  /** Begins to build the next version. Rejects with `rebuild_exists` while one is under way or not retired. */
  async start({ swap }: { readonly swap: boolean }): Promise<void> {
    const present = this.state ?? (await this.view.records.rebuild());
    if (present !== undefined) return reject('rebuild_exists', { version: present.version, state: present.state });
    await this.begin('asked', swap);
  }

  async pause(): Promise<void> {
    this.current.expect('building');
    await this.close();
    // It may have caught up or failed before it could be stopped.
    if (this.state?.state === 'building') await this.current.save({ state: 'paused' });
  }

  async resume(): Promise<void> {
    this.current.expect('paused', 'failed');
    const { failure: _, ...rest } = this.current.present();
    await this.current.store({ ...rest, state: 'building' });
    this.work.begin();
  }

  /**
   * Drops the content of a paused or failed build, because content that it has read was erased. Its state stays, and it
   * starts again when resumed.
   */
  async startOver(): Promise<void> {
    this.current.expect('paused', 'failed');
    const { version: old, ...rest } = this.current.present();
    await this.mayGo(old);
    const version = await this.view.begin();
    await this.current.store({ ...rest, version });
    this.options.progress.done = 0;
    await this.view.remove(old);
  }

  /** Drops the new build. */
  async cancel(): Promise<void> {
    this.current.expect('building', 'paused', 'failed', 'verifying', 'ready');
    await this.close();
    this.current.expect('building', 'paused', 'failed', 'verifying', 'ready');
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
    this.current.expect('swapped');
    await this.remove();
  }

  private get view(): View {
    return this.options.view;
  }

  /**
   * Stored before and after the step: before, so an earlier holder of the lease notices in time; after, so the record
   * is true.
   */
  private async exchange(from: RebuildState, to: RebuildState): Promise<void> {
    this.current.expect(from);
    await this.options.gather(async () => {
      await this.current.save({});
      await this.view.swap();
      await this.current.save({ state: to, swap: false });
    });
  }

  private async begin(reason: RebuildRecord['reason'], swap: boolean): Promise<void> {
    const [goal, version] = [await this.view.head(), await this.view.begin()];
    await this.current.store({
      version,
      from: this.view.served,
      reason,
      state: 'building',
      goal,
      swap,
      fence: this.view.fence,
    });
    if (reason !== 'asked')
      this.options.logger.warn(
        { view: this.view.name, version, reason },
        reason === 'damaged'
          ? 'The live build is damaged or missing. Building a new one from the log.'
          : 'The live build does not fit this version. Building a new one beside it.',
      );
    this.work.begin();
  }

  private async goOn(record: RebuildRecord): Promise<void> {
    if (mustRun(record)) this.work.begin();
    else if (record.state === 'ready') await this.view.followBeside(record.version);
    else if (record.state === 'swapped') await this.view.followBeside(record.from);
  }

  /** Serves the build that follows the log beside a damaged one, where there is such a build; true when that was done. */
  private async fallBack(): Promise<boolean> {
    if (this.state === undefined) return false;
    const { version, from, state } = this.state;
    const other = this.view.served === version ? from : version;
    if ((state !== 'ready' && state !== 'swapped') || !(await this.view.isThere(other))) return false;
    await this.view.replace(other);
    await this.remove();
    return true;
  }

  /** True when the build beside the one that is served was whole and is not there any more. */
  private async isGone(): Promise<boolean> {
    if (this.state?.state !== 'ready' && this.state?.state !== 'swapped') return false;
    const { version, from } = this.state;
    return !(await this.view.isThere(this.view.served === version ? from : version));
  }

  private async replaceUnfit(): Promise<void> {
    await this.view.replace(this.current.present().version);
    await this.remove();
    this.options.logger.info(
      { view: this.view.name, version: this.view.served },
      'Replaced a build that did not fit this version.',
    );
  }

  /** Makes the record true where the process died between a step and its record. */
  private async reconcile(): Promise<void> {
    if (this.state === undefined) return;
    const { version, from, state, reason } = this.state;
    // Of an earlier program, which could give the new build the number of a damaged one.
    if (version === from) return this.current.clear();
    const served = this.view.served;
    const other = served === version ? from : version;
    const done = served === version && reason !== 'asked';
    if (state === 'removing' || done || !(await this.view.isFit(other))) await this.remove();
    else if (served === version && state !== 'swapped') await this.current.save({ state: 'swapped', swap: false });
    else if (served === from && state === 'swapped') await this.current.save({ state: 'ready', swap: false });
  }

  private async remove(): Promise<void> {
    const { version, from } = this.current.present();
    const removed = this.view.served === version ? from : version;
    await this.mayGo(removed);
    await this.current.save({ state: 'removing' });
    await this.view.remove(removed);
    await this.current.clear();
  }

  /**
   * Rejects with `conflict` for the served build: the response to its swap was lost, so this process does not know of
   * it.
   */
  private async mayGo(version: number): Promise<void> {
    if (await this.view.isServed(version)) return reject('conflict', { reason: 'version_served' });
  }
}

/** True for a build to another declaration of the projection, which a living process works on. */
const isOthers = async (view: View, { version }: RebuildRecord, isDeclared: IsDeclared): Promise<boolean> => {
  const declaration = await view.records.declaration(version);
  return declaration !== view.store.declaration && isDeclared(declaration);
};

/** Removes the builds that nobody knows of, unless they are of a declaration that a living process works with. */
const dropOrphans = async (
  view: View,
  rebuilds: readonly (RebuildRecord | undefined)[],
  isDeclared: IsDeclared,
): Promise<void> => {
  const known = new Set([view.served, ...rebuilds.flatMap((record) => [record?.version, record?.from])]);
  for (const version of await view.store.versions()) {
    const declaration = await view.records.declaration(version);
    if (!known.has(version) && (declaration === view.store.declaration || !isDeclared(declaration)))
      await view.remove(version);
  }
};
