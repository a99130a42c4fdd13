import { randomBytes } from 'node:crypto';
import type { Json } from '@app/kernel';
import type { ClientSession, mongo } from 'mongoose';
import { CheckpointMismatch, Fenced, type RowBatch } from '../read-store';
import { foldBatch } from './batch-fold';
import type { EntryDocument, Models, RowDocument, SliceDocument } from './documents';
import type { MongoServer } from './mongo-server';
import { writeRows } from './row-writes';
import type { Views } from './views';

/** Commits each batch in one transaction: rows, checkpoint, fence and state, or nothing. Batches of different slices run side by side. */
export const transactionalCommits =
  (server: MongoServer, models: Models, views: Views) =>
  async (batch: RowBatch): Promise<void> => {
    /** Whoever wrote the slice before may have died in a transaction, which the server would keep for a minute. */
    const onObstructed = async (own: ClientSession): Promise<void> => {
      const { collection } = await views.place(batch.view, batch.version);
      const current = await server.read(() => models.slices.findById(sliceId(collection, batch.slice)).lean());
      if (current?.session !== undefined && current.fence <= batch.fence && current.session !== hexOf(own))
        await server.killSession(current.session);
    };
    await server.transact(
      async (session) => {
        const { view, version, changes } = batch;
        const { collection, indexes, shape } = await views.placeInSession(view, version, session);
        const { _id, ...current } = sliceAfter(batch, collection);
        // First of all: two writers of one slice meet here, before they have done anything for nothing.
        const before = await models.slices
          .findOneAndUpdate(
            { _id },
            { $set: { ...current, session: hexOf(session) } },
            { session, upsert: true, returnDocument: 'before' },
          )
          .lean();
        checkPlace(batch, before);
        const rows = server.db.collection<RowDocument>(collection);
        const written = await foldBatch(rows, view, indexes, changes, session);
        const hasUnique = indexes.some((index) => index.unique === true);
        await writeRows(rows, shape, hasUnique, written, newCommit(), session);
        const entries = stateWrites(collection, batch.state);
        if (entries.length > 0)
          await models.viewState.collection.bulkWrite(entries as mongo.AnyBulkWriteOperation[], {
            session,
            ordered: false,
          });
      },
      { name: `${batch.view}/${batch.version}/${batch.slice ?? 0}`, onObstructed },
    );
  };

const hexOf = ({ id }: ClientSession): string | undefined => id?.id.toString('hex');

/** A name for a commit that no other has. */
const newCommit = (): string => randomBytes(9).toString('base64url');

export const sliceId = (collection: string, slice = 0): string => `${collection}/${slice}`;

/** Where a slice stands once a batch is committed. */
const sliceAfter = ({ slice, to, fence }: RowBatch, collection: string): SliceDocument => ({
  _id: sliceId(collection, slice),
  position: to.position,
  handled: to.handled,
  fence,
});

/** Throws `Fenced` or `CheckpointMismatch` where a batch does not follow on what stands. */
const checkPlace = ({ view, version, from, fence }: RowBatch, current: SliceDocument | null): void => {
  const position = current?.position ?? null;
  if (current !== null && fence < current.fence)
    throw new Fenced(`view ${view} v${version} has a newer writer: fence ${current.fence}, not ${fence}`);
  if (from !== position)
    throw new CheckpointMismatch(
      `view ${view} v${version} is at ${position ?? 'the start'}, not at ${from ?? 'the start'}`,
    );
};

/** The writes to the state of a view version. */
const stateWrites = (
  collection: string,
  state: Readonly<Record<string, Json | null>> = {},
): mongo.AnyBulkWriteOperation<EntryDocument>[] =>
  Object.entries(state).map(([key, value]) => {
    const filter = { _id: `${collection}/${key}` };
    return value === null
      ? { deleteOne: { filter } }
      : { updateOne: { filter, update: { $set: { value: JSON.stringify(value) } }, upsert: true } };
  });
