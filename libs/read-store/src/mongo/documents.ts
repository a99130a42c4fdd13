import type { Connection, Model } from 'mongoose';

/** A version of a view. `indexes` are the declared ones as canonical JSON; `collection` holds the rows and is never used again for others. */
export interface VersionDocument {
  readonly version: number;
  readonly indexes: string;
  readonly collection: string;
  /** How its rows stand there; absent in what version 1.5 and older made, whose rows are text. */
  readonly format?: 'documents';
  /** Which of the rows' fields hold free-form JSON, as JSON text. */
  readonly freeForm?: string;
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
}

/** A piece of state as JSON text; that of a view version has the `_id` `<collection>/<key>`. */
export interface EntryDocument {
  readonly _id: string;
  readonly value: string;
}

/** A row: its own fields, as `row-codec` says, beside these. */
export interface RowDocument {
  /** The key. */
  readonly _id: string;
  readonly _meta: {
    /** Of the last event that changed the row. */
    readonly position: string;
    /** Names the commit that wrote it, among all. */
    readonly commit: string;
    /** Characters of the row as JSON. */
    readonly size: number;
  };
}

/** A row as version 1.5 and older wrote it. Without a `row` it is what a removal left on a server outside of a replica set. */
export interface TextRowDocument {
  readonly _id: string;
  readonly position: string;
  readonly commit: string;
  readonly row?: string;
}

export interface Models {
  readonly views: Model<ViewDocument>;
  readonly slices: Model<SliceDocument>;
  readonly viewState: Model<EntryDocument>;
  readonly state: Model<EntryDocument>;
}

/** The collections beside the rows. Unknown fields are rejected in documents and in queries. */
export const modelsOf = async (database: Connection): Promise<Models> => {
  const { Schema } = await import('mongoose');
  const strict = { strict: 'throw', strictQuery: 'throw', versionKey: false, minimize: false } as const;
  const version = new Schema(
    { version: Number, indexes: String, collection: String, format: String, freeForm: String, dropping: Boolean },
    { ...strict, _id: false, suppressReservedKeysWarning: true },
  );
  const slice = new Schema({ _id: String, position: String, handled: Number, fence: Number, session: String }, strict);
  const entry = new Schema({ _id: String, value: String }, strict);
  const view = new Schema({ _id: String, live: Number, versions: [version] }, strict);
  return {
    views: database.model<ViewDocument>('View', view, 'views'),
    slices: database.model<SliceDocument>('Slice', slice, 'slices'),
    viewState: database.model<EntryDocument>('ViewState', entry, 'viewState'),
    state: database.model<EntryDocument>('State', entry, 'state'),
  };
};

const NAME = /^[a-z][a-z0-9-]{0,99}$/;

/** Rejects what cannot be part of a collection's name. */
export const checkView = (view: string, version: number): void => {
  if (!NAME.test(view) || !Number.isSafeInteger(version) || version < 0)
    throw new RangeError(`no view is called ${JSON.stringify(view)} v${version}`);
};

/** The ids that begin so. */
export const idsBeginning = (prefix: string): { readonly $gte: string; readonly $lt: string } => ({
  $gte: prefix,
  $lt: `${prefix}\u{10ffff}`,
});
