import type { ClientSession, mongo } from 'mongoose';
import type { WrittenRow } from './batch-fold';
import type { RowDocument } from './documents';
import { documentOf, type RowShape } from './row-codec';

/** Keys that one command names: a command has 16 MB at most, and a view may lose all rows of a tenant at once. */
const MOST_KEYS = 10_000;

/** Writes the rows of a batch in the transaction that has read them. */
export const writeRows = async (
  collection: mongo.Collection<RowDocument>,
  shape: RowShape,
  hasUnique: boolean,
  written: readonly WrittenRow[],
  commit: string,
  session: ClientSession,
): Promise<void> => {
  // Values of a unique index may have moved between rows: all their old rows go before the first new one comes.
  const gone = written.filter(({ existed, row }) => existed && (row === null || hasUnique)).map(({ key }) => key);
  for (let from = 0; from < gone.length; from += MOST_KEYS)
    await collection.deleteMany({ _id: { $in: gone.slice(from, from + MOST_KEYS) } }, { session });
  const operations = written.flatMap(({ key, position, row, existed }): mongo.AnyBulkWriteOperation<RowDocument>[] => {
    if (row === null) return [];
    const document = documentOf(shape, key, row, { position, commit });
    return existed && !hasUnique
      ? [{ replaceOne: { filter: { _id: key }, replacement: document } }]
      : [{ insertOne: { document } }];
  });
  if (operations.length > 0) await collection.bulkWrite(operations, { session, ordered: false });
};
