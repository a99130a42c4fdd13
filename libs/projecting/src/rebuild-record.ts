import type { Json } from '@app/kernel';
import { Fenced, type ReadStore } from '@app/read-store';
import type { BuildFailure } from './rebuild-worker';
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
   * `asked` by an operator, or because the live build is unfit: made for another `declaration` of the projection, or
   * `ahead-of-log`. An unfit build is served as it stands until the new one has caught up, then swapped and dropped.
   */
  readonly reason: 'asked' | 'declaration' | 'ahead-of-log';
  readonly state: RebuildState;
  /** Who works on it: a holder of the lease before is refused when it stores another state. */
  readonly fence: number;
  /** Swap by itself once it was verified to be equal. */
  readonly swap: boolean;
  readonly failure?: BuildFailure;
  readonly verification?: Verification;
}

/** What is stored about the builds of one view: the rebuild under way, what each build was declared as, and events discarded. */
export class BuildRecords {
  constructor(
    private readonly store: ReadStore,
    private readonly view: string,
  ) {}

  async rebuild(): Promise<RebuildRecord | undefined> {
    return (await this.store.readState(`rebuild/${this.view}`)) as RebuildRecord | undefined;
  }

  /** Throws `Fenced` when the record is not the one expected: another process works on the rebuild. */
  async saveRebuild(record: RebuildRecord | null, expected: RebuildRecord | undefined): Promise<void> {
    const saved = await this.store.writeState(`rebuild/${this.view}`, record as Json | null, { expected: expected as Json | undefined });
    if (!saved) throw new Fenced(`the rebuild of ${this.view} belongs to another process`);
  }

  /** What the projection declared when a build was begun. */
  async declaration(version: number): Promise<string | undefined> {
    return (await this.store.readState(`build/${this.view}/${version}`)) as string | undefined;
  }

  async saveDeclaration(version: number, declaration: string | null): Promise<void> {
    await this.store.writeState(`build/${this.view}/${version}`, declaration);
  }

  async saveDiscarded(eventId: string, at: string): Promise<void> {
    await this.store.writeState(`${this.discardedPrefix()}${eventId}`, { at });
  }

  discardedPrefix(): string {
    return `discarded/${this.view}/`;
  }
}
