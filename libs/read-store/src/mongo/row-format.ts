import type { Json } from '@app/kernel';
import { comparable } from '../index-choice';
import type { Row } from '../read-store';
import type { RowDocument, TextRowDocument } from './documents';
import { indexedValue, rowOf } from './row-codec';

/** Metadata of a row. */
export interface RowHead {
  readonly position: string;
  readonly commit: string;
  readonly size: number;
}

/** How to read and find the rows of a collection. */
export interface RowFormat<Document = unknown> {
  /** Added to every query. */
  readonly base: Readonly<Record<string, unknown>>;
  /** Fields of a document that form its row; undefined: all. */
  readonly whole: Readonly<Record<string, 1>> | undefined;
  /** Fields that identify the commit. */
  readonly commitOnly: Readonly<Record<string, 1>>;
  head(document: Document): RowHead;
  row(document: Document): Row;
  /** The path of an indexed field. */
  path(field: string): string;
  /** The stored value of an indexed field. A given value never becomes an operator. */
  value(value: Json | undefined): unknown;
}

/** The row's own fields are those of the document. */
export const documentRows: RowFormat<RowDocument> = {
  base: {},
  whole: undefined,
  commitOnly: { '_meta.commit': 1 },
  head: ({ _meta }) => _meta,
  row: rowOf,
  path: (field) => field,
  value: indexedValue,
};

/**
 * Rows up to version 1.5: the row as JSON text, its indexed fields beside it in `by`. Builds in this format are only read, while each
 * view is built anew. On a server outside of a replica set a removed row left its key behind.
 */
export const textRows: RowFormat<TextRowDocument> = {
  base: { row: { $exists: true } },
  whole: { position: 1, commit: 1, row: 1 },
  commitOnly: { commit: 1 },
  head: ({ position, commit, row }) => ({ position, commit, size: row?.length ?? 0 }),
  row: ({ row = '{}' }) => JSON.parse(row) as Row,
  path: (field) => `by.${field}`,
  value: comparable,
};
