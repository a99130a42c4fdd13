import type { Position, RecordedEvent } from '@app/kernel';
import type { Checkpoint } from '@app/read-store';
import type { DeadLetter } from '../dead-letter';

/**
 * One transaction of a view: the changes of its events, its new position, and the dead letters that were added or
 * removed.
 */
export interface ViewBatch<Op> {
  readonly slice: number;
  readonly changes: readonly { readonly position: Position; readonly operations: readonly Op[] }[];
  readonly from: Position | null;
  readonly to: Checkpoint;
  readonly fence: number;
  /** By stream; null removes. */
  readonly letters: ReadonlyMap<string, DeadLetter | null>;
}

/**
 * What a projection is run against: the read store or the search index, and the projection's own mapping of events to
 * operations. Versions are build numbers: 1, 2, 3 ... as they were built, whatever version the projection declares.
 */
export interface ViewStore<Op = unknown> {
  readonly name: string;
  readonly types: readonly string[];
  /** Says what the projection was when a build was made; another text means that builds are no longer fit. */
  readonly declaration: string;
  /** How many slices the streams are divided into; each has a checkpoint and a writer of its own. */
  readonly slices: number;
  /** Most events of one commit. */
  readonly mostAtOnce: number;
  /** Only the type and the context of events are read; their data are handed over empty. */
  readonly contextOnly: boolean;
  operations(event: RecordedEvent): readonly Op[] | Promise<readonly Op[]>;

  prepare(version: number): Promise<void>;
  live(): Promise<number | undefined>;
  versions(): Promise<readonly number[]>;
  swap(from: number | undefined, to: number): Promise<boolean>;
  drop(version: number): Promise<void>;
  /** Drops a damaged build, but keeps its file beside for a while. */
  setAside(version: number): Promise<void>;

  /** Undefined where the build is not there. */
  checkpoint(version: number, slice: number): Promise<Checkpoint | undefined>;
  letters(version: number): Promise<readonly DeadLetter[]>;
  commit(version: number, batch: ViewBatch<Op>): Promise<void>;

  count(version: number): Promise<number>;
  /** Keys with a digest of what stands there, in the order of keys: pages of `limit` after a key. */
  digests(
    version: number,
    after: string | null,
    limit: number,
  ): Promise<readonly { readonly key: string; readonly digest: string }[]>;
  healthy(): Promise<boolean>;
}
