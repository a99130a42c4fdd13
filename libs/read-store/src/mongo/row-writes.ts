import type { ClientSession, mongo } from 'mongoose';
import type { IndexSpec } from '../read-store';
import type { WrittenRow } from './batch-fold';
import type { RowDocument } from './documents';
import { documentOf } from './row-documents';

/** What a batch writes: rows that go first, then rows that come. */
export interface RowWrites {
  readonly gone: readonly string[];
  readonly rows: readonly { readonly document: RowDocument; readonly isNew: boolean }[];
}

/** Values of a unique index may have moved between rows: all their old rows go before the first new one comes. */
export const writesOf = (indexes: readonly IndexSpec[], written: readonly WrittenRow[], commit: string): RowWrites => {
  const unique = indexes.some((index) => index.unique === true);
  return {
    gone: written.filter(({ existed, row }) => existed && (row === null || unique)).map(({ key }) => key),
    rows: written.flatMap(({ key, position, row, existed }) =>
      row === null ? [] : [{ document: documentOf(indexes, key, position, row, commit), isNew: !existed || unique }],
    ),
  };
};

/** Writes rows in a transaction that has read them. */
export const writeRows = async (
  collection: mongo.Collection<RowDocument>,
  { gone, rows }: RowWrites,
  session: ClientSession,
): Promise<void> => {
  if (gone.length > 0) await collection.deleteMany({ _id: { $in: [...gone] } }, { session });
  if (rows.length === 0) return;
  const operations = rows.map(({ document, isNew }): mongo.AnyBulkWriteOperation<RowDocument> =>
    isNew ? { insertOne: { document } } : { replaceOne: { filter: { _id: document._id }, replacement: document } },
  );
  await collection.bulkWrite(operations, { session, ordered: false });
};
