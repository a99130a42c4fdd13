import type { Connection, Model } from 'mongoose';

/** A version of a view. `indexes`: the declared indexes as canonical JSON. `collection`: holds the rows; its name is never reused. */
export interface VersionDocument {
  readonly version: number;
  readonly indexes: string;
  readonly collection: string;
  /** The format of its rows. Absent in builds of version 1.5 and older, whose rows are text. */
  readonly format?: 'documents';
  /** The fields that hold free-form JSON, as JSON text. */
  readonly freeForm?: string;
  readonly dropping?: boolean;
}

/** A view: its versions, and which one is served. `_id` is its name. */
export interface ViewDocument {
  readonly _id: string;
  readonly live?: number;
  readonly versions: readonly VersionDocument[];
}

/** The checkpoint of a slice. `_id` is `<collection>/<slice>`. */
export interface SliceDocument {
  readonly _id: string;
  readonly position: string | null;
  readonly handled: number;
  readonly fence: number;
  /** The session of the transaction that wrote it, as hexadecimal text. */
  readonly session?: string;
}

/** State as JSON text. State of a view version has the `_id` `<collection>/<key>`. */
export interface EntryDocument {
  readonly _id: string;
  readonly value: string;
}

/** A row: these fields, beside its own as `row-codec` encodes them. */
export interface RowDocument {
  /** The key. */
  readonly _id: string;
  readonly _meta: {
    /** Of the last event that changed the row. */
    readonly position: string;
    /** Unique id of the commit that wrote it. */
    readonly commit: string;
    /** Characters of the row as JSON. */
    readonly size: number;
  };
}

/** A row of version 1.5 or older. Without `row`: what a removal left on a server outside of a replica set. */
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

/** The collections beside the rows. They reject unknown fields in documents and queries. */
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

/** Rejects text that cannot be part of a collection's name. */
export const checkView = (view: string, version: number): void => {
  if (!NAME.test(view) || !Number.isSafeInteger(version) || version < 0)
    throw new RangeError(`no view is called ${JSON.stringify(view)} v${version}`);
};

/** A condition for ids with this prefix. */
export const idsBeginning = (prefix: string): { readonly $gte: string; readonly $lt: string } => ({
  $gte: prefix,
  $lt: `${prefix}\u{10ffff}`,
});
