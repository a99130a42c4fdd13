import { allEntries } from '@app/coordination';
import type { Json, Position } from '@app/kernel';
import { Fenced, type ReadStore } from '@app/read-store';
import type { BuildFailure } from './rebuild-worker';
import { storedTimeline } from '../views/log-mark';
import type { Verification } from './verification';

/**
 * - `building`: reads the log; `paused` and `failed` go on where they ended when resumed
 * - `verifying`: caught up and being compared with the live build
 * - `ready`: follows the log beside the live build, may be swapped in
 * - `swapped`: is served; the build before follows the log until it is retired
 * - `removing`: the build that is not served is being dropped
 */
export type RebuildState = 'building' | 'paused' | 'failed' | 'verifying' | 'ready' | 'swapped' | 'removing';

/** A rebuild as it is stored, at changes of state only: its progress is the checkpoint of its build. */
export interface RebuildRecord {
  /** The build that is made. */
  readonly version: number;
  /** The build that was served when it began. */
  readonly from: number;
  /**
   * `asked` by an operator, or because the live build is unfit: made for another `declaration` of the projection,
   * `ahead-of-log`, or `damaged`. An unfit build is served until the new one has caught up, then swapped and dropped; a
   * damaged one is not served.
   */
  readonly reason: 'asked' | 'declaration' | 'ahead-of-log' | 'damaged';
  readonly state: RebuildState;
  /** Who works on it: a holder of the lease before is rejected when it stores another state. */
  readonly fence: number;
  /** Where the log ended when it began: a slice that has passed it counts as built. */
  readonly goal: Position | null;
  /** Swap automatically after a successful verification. Set to false after the swap, so a rollback is not undone. */
  readonly swap: boolean;
  readonly failure?: BuildFailure;
  readonly verification?: Verification;
}

/**
 * Whether there is work to continue. An automatic rebuild is tried again at every start, because the view does not come
 * up before it is done. A rebuild that ended before its automatic swap is verified again.
 */
export const mustRun = ({ state, reason, swap, verification }: RebuildRecord): boolean =>
  state === 'building' ||
  state === 'verifying' ||
  (state === 'failed' && reason !== 'asked') ||
  (state === 'ready' && swap && verification?.equal === true);

/** What the keys of rebuild records begin with; the name of the view follows. */
const REBUILDS = 'rebuild/';

/** The rebuilds of all views, by view, as JSON text. */
export const storedRebuilds = async (store: Pick<ReadStore, 'listState'>): Promise<ReadonlyMap<string, string>> => {
  const entries = await allEntries((options) => store.listState(REBUILDS, options));
  return new Map(entries.map(({ key, value }) => [key.slice(REBUILDS.length), JSON.stringify(value)]));
};

/** What is stored about the builds of one view: the rebuild under way, what each build was declared as, and events discarded. */
export class BuildRecords {
  private readonly known = new Map<number, number>();

  constructor(
    private readonly store: ReadStore,
    private readonly view: string,
  ) {}

  async rebuild(): Promise<RebuildRecord | undefined> {
    return (await this.store.readState(REBUILDS + this.view)) as RebuildRecord | undefined;
  }

  /** Throws `Fenced` when the record is not the one expected: another process works on the rebuild. */
  async saveRebuild(record: RebuildRecord | null, expected: RebuildRecord | undefined): Promise<void> {
    const saved = await this.store.writeState(REBUILDS + this.view, record as Json | null, {
      expected: expected as Json | undefined,
    });
    if (!saved) throw new Fenced(`the rebuild of ${this.view} belongs to another process`);
  }

  /** What the projection declared when a build was begun. */
  async declaration(version: number): Promise<string | undefined> {
    return (await this.store.readState(`build/${this.view}/${version}`)) as string | undefined;
  }

  /** How many slices a build is divided into: always the same for a build. */
  async slices(version: number): Promise<number> {
    const known = this.known.get(version);
    if (known !== undefined) return known;
    const declaration = await this.declaration(version);
    const { slices = 1 } = JSON.parse(declaration ?? '{}') as { readonly slices?: number };
    if (declaration !== undefined) this.known.set(version, slices);
    return slices;
  }

  /** Claims a number for a build; false when another process was faster. */
  async claim(version: number, declaration: string): Promise<boolean> {
    const timeline = await storedTimeline(this.store);
    // Before the build is visible: readers of the build ask which log it belongs to.
    if (timeline > 0) await this.store.writeState(this.timelineKey(version), timeline);
    return this.store.writeState(`build/${this.view}/${version}`, declaration, { expected: undefined });
  }

  /** False for a build of what the log held before it was restored from an older backup. */
  async isOfThisLog(version: number): Promise<boolean> {
    const timeline = await storedTimeline(this.store);
    return timeline === ((await this.store.readState(this.timelineKey(version))) ?? 0);
  }

  async forget(version: number): Promise<void> {
    await this.store.writeState(`build/${this.view}/${version}`, null);
    await this.store.writeState(this.timelineKey(version), null);
  }

  async saveDiscarded(eventId: string, at: string): Promise<void> {
    await this.store.writeState(`${this.discardedPrefix()}${eventId}`, { at });
  }

  discardedPrefix(): string {
    return `discarded/${this.view}/`;
  }

  private timelineKey(version: number): string {
    return `timeline/${this.view}/${version}`;
  }
}
