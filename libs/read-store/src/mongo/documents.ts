import type { Connection, Model } from 'mongoose';

/** A version of a view. `indexes` are the declared ones as canonical JSON; `collection` holds the rows and is never used again for others. */
export interface VersionDocument {
  readonly version: number;
  readonly indexes: string;
  readonly collection: string;
  readonly dropping?: boolean;
}

/** A view: which version is served, and the versions there are. `_id` is its name. */
export interface ViewDocument {
  readonly _id: string;
  readonly live?: number;
  readonly versions: readonly VersionDocument[];
}

/** Where a slice of a view version stands. `_id` is `<collection>/<slice>`. */
export interface SliceDocument {
  readonly _id: string;
  readonly position: string | null;
  readonly handled: number;
  readonly fence: number;
  /** The session of the transaction that wrote it, as hexadecimal text. */
  readonly session?: string;
  /** Number of the commit, on a server without transactions. */
  readonly turn?: number;
}

/** A piece of state as JSON text; that of a view version has the `_id` `<collection>/<key>`. */
export interface EntryDocument {
  readonly _id: string;
  readonly value: string;
}

/**
 * A row; `_id` is its key. The row is JSON text: keys of any form, their order and every text come back as they were, and
 * nothing in it can be taken for an operator.
 */
export interface RowDocument {
  readonly _id: string;
  readonly position: string;
  /** Names the commit that wrote it, among all. */
  readonly commit: string;
  readonly row: string;
  /** The fields that indexes are over; null is absent. */
  readonly by: Readonly<Record<string, string | number>>;
  /** Its values of the unique indexes, by index, where none of them is null. */
  readonly claims?: Readonly<Record<string, string>>;
  /** Number of the commit, on a server without transactions. */
  readonly turn?: number;
}

/**
 * What is left of a row, or of an entry of a view's state, that was removed on a server without transactions: a commit that stood still
 * meanwhile yields to it as it does to a row. The server removes it some time later.
 */
export interface RemovedDocument {
  readonly _id: string;
  readonly turn: number;
  readonly removedAt: Date;
}

/** What a commit on a server without transactions is about to write; `parts` of it are in `journalParts`. */
export interface PendingCommit {
  readonly commit: string;
  readonly parts: number;
  readonly slice: SliceDocument;
  /** The entries of the view's state, as JSON text. */
  readonly state: string;
}

/** The commits to a collection, on a server without transactions. `_id` is its name; `turn` numbers the commits, the pending one too. */
export interface JournalDocument {
  readonly _id: string;
  readonly turn: number;
  readonly pending?: PendingCommit;
}

/** `_id` is `<collection>/<commit>/<part>`. */
export interface JournalPartDocument {
  readonly _id: string;
  readonly gone: readonly string[];
  readonly rows: readonly RowDocument[];
}

export interface Models {
  readonly views: Model<ViewDocument>;
  readonly slices: Model<SliceDocument>;
  readonly viewState: Model<EntryDocument & Partial<RemovedDocument>>;
  readonly state: Model<EntryDocument>;
  readonly journals: Model<JournalDocument>;
  readonly journalParts: Model<JournalPartDocument>;
}

/** The collections beside the rows. Unknown fields are refused in documents and in queries. */
export const modelsOf = async (database: Connection): Promise<Models> => {
  const { Schema } = await import('mongoose');
  const strict = { strict: 'throw', strictQuery: 'throw', versionKey: false, minimize: false } as const;
  const part = { ...strict, _id: false } as const;
  const version = new Schema(
    { version: Number, indexes: String, collection: String, dropping: Boolean },
    { ...part, suppressReservedKeysWarning: true },
  );
  const slice = new Schema(
    { _id: String, position: String, handled: Number, fence: Number, session: String, turn: Number },
    strict,
  );
  const entry = new Schema({ _id: String, value: String }, strict);
  const pending = new Schema({ commit: String, parts: Number, slice, state: String }, part);
  const row = new Schema(
    {
      _id: String,
      position: String,
      commit: String,
      row: String,
      by: Schema.Types.Mixed,
      claims: Schema.Types.Mixed,
      turn: Number,
    },
    strict,
  );
  return {
    views: database.model<ViewDocument>(
      'View',
      new Schema({ _id: String, live: Number, versions: [version] }, strict),
      'views',
    ),
    slices: database.model<SliceDocument>('Slice', slice, 'slices'),
    viewState: database.model<EntryDocument & Partial<RemovedDocument>>(
      'ViewState',
      new Schema({ _id: String, value: String, turn: Number, removedAt: Date }, strict),
      'viewState',
    ),
    state: database.model<EntryDocument>('State', entry, 'state'),
    journals: database.model<JournalDocument>(
      'Journal',
      new Schema({ _id: String, turn: Number, pending }, strict),
      'journals',
    ),
    journalParts: database.model<JournalPartDocument>(
      'JournalPart',
      new Schema({ _id: String, gone: [String], rows: [row] }, strict),
      'journalParts',
    ),
  };
};

const NAME = /^[a-z][a-z0-9-]{0,99}$/;

/** Refuses what cannot be part of a collection's name. */
export const checkView = (view: string, version: number): void => {
  if (!NAME.test(view) || !Number.isSafeInteger(version) || version < 0)
    throw new RangeError(`no view is called ${JSON.stringify(view)} v${version}`);
};

/** What was not removed. */
export const STANDING = { removedAt: { $exists: false } } as const;

/** The ids that begin so. */
export const idsBeginning = (prefix: string): { readonly $gte: string; readonly $lt: string } => ({
  $gte: prefix,
  $lt: `${prefix}\u{10ffff}`,
});
