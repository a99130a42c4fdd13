import type { Json, Position } from '@app/kernel';
import type { z } from 'zod';

/** Injection token of the `ReadStore` port. */
export const READ_STORE = Symbol('ReadStore');

/** A row of a view: a JSON object. Rows handed out are frozen, and the same object as long as the row is unchanged. */
export type Row = Readonly<Record<string, Json>>;

/** A row of a view, as it is stored. */
export interface StoredRow<R extends Row = Row> {
  readonly key: string;
  /** Position of the last event that changed the row. */
  readonly position: Position;
  readonly row: R;
  /** Characters of the row as JSON. */
  readonly size: number;
}

/** An index over row fields; top-level field names, compared as text, number or boolean. */
export interface IndexSpec {
  readonly name: string;
  readonly fields: readonly { readonly field: string; readonly order?: 'asc' | 'desc' }[];
  /** Rejects a second row with equal values; rows where one of the fields is null or absent do not count. */
  readonly unique?: boolean;
}

/** What a view looks like in the store; a new version is a new, empty table or collection. */
export interface ViewSpec {
  readonly name: string;
  readonly version: number;
  readonly indexes: readonly IndexSpec[];
  /** What its rows look like, for stores whose users read them with tools of their own; any JSON object where it is not given. */
  readonly row?: z.ZodObject;
}

/** What a projection does to its rows. `key` is the row's primary key. */
export type Operation =
  | { readonly op: 'put'; readonly key: string; readonly row: Row }
  /** Sets these fields of an existing row; a row that does not exist stays so. */
  | { readonly op: 'patch'; readonly key: string; readonly fields: Row }
  /** Adds to a number field of an existing row (absent counts as 0). */
  | { readonly op: 'increment'; readonly key: string; readonly field: string; readonly by: number }
  /** Adds to number fields of a row; where there is none yet, to those of `row`, which it becomes. */
  | { readonly op: 'add'; readonly key: string; readonly row: Row; readonly by: Readonly<Record<string, number>> }
  | { readonly op: 'remove'; readonly key: string }
  /** Removes every row whose fields equal these; the fields must begin a declared index. */
  | { readonly op: 'removeWhere'; readonly where: Readonly<Record<string, string | number | boolean>> }
  /** Patches every row whose fields equal these; the fields must begin a declared index. */
  | {
      readonly op: 'patchWhere';
      readonly where: Readonly<Record<string, string | number | boolean>>;
      readonly fields: Row;
    };

/** The operations of one event. */
export interface RowChange {
  readonly position: Position;
  readonly operations: readonly Operation[];
}

/** Where a view stands in the log. */
export interface Checkpoint {
  readonly position: Position | null;
  /** Events handled so far, for progress. */
  readonly handled: number;
}

/** One transaction of a projector: rows, checkpoint and its own state together, or nothing. */
export interface RowBatch {
  readonly view: string;
  readonly version: number;
  /** Which slice of the streams these changes are of; 0 by default. Checkpoint and fence are kept apart for each slice. */
  readonly slice?: number;
  readonly changes: readonly RowChange[];
  /** Where the view stands before; the commit aborts with `CheckpointMismatch` otherwise. */
  readonly from: Position | null;
  readonly to: Checkpoint;
  /** Monotonic number of the writer's lease; lower than the highest seen is rejected with `Fenced`. */
  readonly fence: number;
  /** Entries of the projector's own state for this view version (dead letters and the like) written in the same transaction; null removes. */
  readonly state?: Readonly<Record<string, Json | null>>;
}

/** Which rows of a view are found, and in which order. */
export interface FindOptions {
  /** Equality on fields; together with `orderBy` it must be served by a declared index. `in` takes at most 1,000 values. */
  readonly where?: Readonly<
    Record<string, string | number | boolean | null | { readonly in: readonly (string | number)[] }>
  >;
  readonly orderBy?: readonly { readonly field: string; readonly order: 'asc' | 'desc' }[];
  /** Values of the `orderBy` fields and the key of the last row of the page before. Ties are ordered by key, in the last field's order. */
  readonly after?: { readonly values: readonly Json[]; readonly key: string };
  readonly limit: number;
  /** The rows end with the one that brings their sizes to this, also before the limit. */
  readonly most?: number;
}

/** A build of a view, or of an index. */
export interface BuildFile {
  readonly name: string;
  readonly version: number;
}

/** The port of the read models. Reads go to the live version unless one is named. */
export interface ReadStore {
  /** How rows stand in builds that are made now, of a store in which that has changed: what it made otherwise is only read until it is built anew. */
  readonly rowFormat?: string;
  /** Most events of one commit where many are waiting: more make each of them cheaper, and the commit longer. */
  readonly mostAtOnce: number;
  /** Creates what is missing for a version; rejects with an error when its declared indexes differ from those it was made with. */
  prepare(view: ViewSpec): Promise<void>;
  /** The version that is served, undefined before the first. */
  live(view: string): Promise<number | undefined>;
  versions(view: string): Promise<readonly number[]>;
  /** Makes `to` the live version if `from` is; false when somebody else was faster. */
  swap(view: string, from: number | undefined, to: number): Promise<boolean>;
  drop(view: string, version: number): Promise<void>;
  /** Builds that were found damaged, or cannot be read, and still stand there. Only of a store that keeps files of its own. */
  damaged?(): Promise<readonly BuildFile[]>;
  /** Drops a damaged build, but keeps its file beside, for whoever wants to look at it, until the next `purge`. */
  setAside?(view: string, version: number): Promise<void>;

  get(view: string, key: string, version?: number): Promise<StoredRow | undefined>;
  /** In the order of the keys; unknown keys are left out. */
  getMany(view: string, keys: readonly string[], version?: number): Promise<readonly StoredRow[]>;
  find(view: string, options: FindOptions, version?: number): Promise<readonly StoredRow[]>;
  count(view: string, where?: FindOptions['where'], version?: number): Promise<number>;
  /** All rows by key, for verification and comparison: pages after a key, of at most `limit` and about `PAGE_SIZE`, none of them empty before the end. */
  scan(view: string, version: number, afterKey: string | null, limit: number): Promise<readonly StoredRow[]>;

  checkpoint(view: string, version: number, slice?: number): Promise<Checkpoint | undefined>;
  /** The projector's own state of a view version, by key. */
  viewState(view: string, version: number): Promise<readonly { readonly key: string; readonly value: Json }[]>;
  /** Throws `CheckpointMismatch`, `Fenced`, `UniqueViolation`; nothing is written then. */
  commit(batch: RowBatch): Promise<void>;

  /** What is recorded beside the views and follows from the log as they do (rebuilds, declarations, dead letters of searches): JSON by key. */
  readState(key: string): Promise<Json | undefined>;
  listState(
    prefix: string,
    options?: { readonly after?: string; readonly limit?: number },
  ): Promise<readonly { key: string; value: Json }[]>;
  /** Writes if the present value equals `expected` (undefined: absent; omitted: whatever it is); null removes. */
  writeState(key: string, value: Json | null, options?: { readonly expected: Json | undefined }): Promise<boolean>;

  /** Removes what deletion leaves behind on disk (free pages, write-ahead log). */
  purge(): Promise<void>;
  health(): Promise<{ readonly ok: boolean; readonly reason?: string }>;
  close(): Promise<void>;
}

/** The view stands elsewhere than the batch begins: another process wrote it. */
export class CheckpointMismatch extends Error {
  override readonly name = 'CheckpointMismatch';
}

/** A process with a newer lease writes this view. */
export class Fenced extends Error {
  override readonly name = 'Fenced';
}

/** Two rows of a view have the same values in a unique index. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation';

  constructor(
    readonly view: string,
    readonly index: string,
    readonly key: string,
  ) {
    super(`row ${key} of ${view} repeats a value of the unique index ${index}`);
  }
}
