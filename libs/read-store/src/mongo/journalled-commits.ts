import { type Json, MAX_ATTEMPTS, Unavailable } from '@app/kernel';
import type { mongo } from 'mongoose';
import type { RowBatch } from '../read-store';
import { foldBatch } from './batch-fold';
import type {
  JournalDocument,
  JournalPartDocument,
  Models,
  PendingCommit,
  RemovedDocument,
  RowDocument,
} from './documents';
import { areDuplicateKeys } from './mongo-errors';
import type { MongoServer } from './mongo-server';
import { type RowWrites, writesOf } from './row-writes';
import { checkStanding, type Commits, newCommit, sliceAfter, sliceId } from './transactional-commits';
import type { Place, Views } from './views';

/** Characters of rows in one part of the journal, well below what a document may hold. */
const PART = 4 * 1024 * 1024;

/**
 * Commits on a server without transactions. A batch is first written down whole and then taken for the next commit by one
 * compare-and-set of the journal; from then on it happens: whoever finds it pending, also after a crash, writes it to the end
 * before anything else. Every write of it may be repeated: a row carries the number of its commit and yields only to a later one, and what is left of a removed one does so too.
 */
export const journalledCommits = (server: MongoServer, models: Models, views: Views): Commits => ({
  commit: async (batch) => {
    const place = await views.place(batch.view, batch.version);
    const journal = new Journal(server, models, place.collection);
    await server.write(async () => {
      for (let attempt = 1; attempt <= MAX_ATTEMPTS * 10; attempt += 1)
        if (await journal.tryCommit(batch, place)) return;
      throw new Unavailable('views', `other slices of view ${batch.view} kept writing`);
    });
  },
});

class Journal {
  private readonly rows: mongo.Collection<RowDocument>;
  private readonly removed: mongo.Collection<RemovedDocument>;

  constructor(
    server: MongoServer,
    private readonly models: Models,
    private readonly collection: string,
  ) {
    this.rows = server.db.collection<RowDocument>(collection);
    this.removed = server.db.collection<RemovedDocument>(collection);
  }

  /** False when another commit was faster. */
  async tryCommit(batch: RowBatch, { indexes }: Place): Promise<boolean> {
    const standing = await this.settled();
    checkStanding(batch, await this.models.slices.findById(sliceId(this.collection, batch.slice)).lean());
    const commit = newCommit();
    const written = await foldBatch(this.rows, batch.view, indexes, batch.changes);
    const parts = partsOf(writesOf(indexes, written, commit), `${this.collection}/${commit}`, standing.turn + 1);
    // Past the model, which would copy and check each row; the driver's own type knows no ids that are text.
    if (parts.length > 0) await this.models.journalParts.collection.insertMany(parts as unknown as mongo.Document[]);
    const pending: PendingCommit = {
      commit,
      parts: parts.length,
      slice: sliceAfter(batch, this.collection),
      state: JSON.stringify(batch.state ?? {}),
    };
    const taken = await this.models.journals.updateOne(
      { _id: this.collection, turn: standing.turn, pending: { $exists: false } },
      { $set: { turn: standing.turn + 1, pending } },
    );
    if (taken.matchedCount === 1) await this.finish({ ...standing, turn: standing.turn + 1, pending }, parts);
    else await this.removeParts(commit, parts.length);
    return taken.matchedCount === 1;
  }

  /** The journal with nothing pending. */
  private async settled(): Promise<JournalDocument> {
    await this.models.journals.updateOne({ _id: this.collection }, { $setOnInsert: { turn: 0 } }, { upsert: true });
    const journal = (await this.models.journals.findById(this.collection).lean()) as JournalDocument;
    if (journal.pending === undefined) return journal;
    const parts = await this.models.journalParts
      .find({ _id: { $in: partIds(this.collection, journal.pending) } })
      .lean();
    // Parts that are missing were removed by whoever ended the commit meanwhile.
    if (parts.length === journal.pending.parts) await this.finish(journal, parts);
    return this.settled();
  }

  private async finish({ turn, pending }: JournalDocument, parts: readonly JournalPartDocument[]): Promise<void> {
    if (pending === undefined) return;
    const older = { turn: { $not: { $gte: turn } } };
    const back = new Set(parts.flatMap(({ rows }) => rows.map(({ _id }) => _id)));
    for (const { gone } of parts) {
      const moved = gone.filter((id) => back.has(id));
      if (moved.length > 0) await this.rows.deleteMany({ _id: { $in: moved }, ...older });
      await this.bury(
        gone.filter((id) => !back.has(id)),
        turn,
      );
    }
    for (const { rows } of parts) await this.put(rows, older);
    await this.putState(JSON.parse(pending.state) as Record<string, Json | null>, turn);
    const { _id, ...slice } = pending.slice;
    await unlessLater(this.models.slices.updateOne({ _id, ...older }, { $set: { ...slice, turn } }, { upsert: true }));
    await this.models.journals.updateOne(
      { _id: this.collection, turn, pending: { $exists: true } },
      { $unset: { pending: 1 } },
    );
    await this.removeParts(pending.commit, pending.parts);
  }

  /** Writes rows over older ones. */
  private async put(rows: readonly RowDocument[], older: mongo.Filter<RowDocument>): Promise<void> {
    const writes = rows.map((row): mongo.AnyBulkWriteOperation<RowDocument> => ({
      replaceOne: { filter: { _id: row._id, ...older }, replacement: row, upsert: true },
    }));
    if (writes.length === 0) return;
    await unlessLater(this.rows.bulkWrite(writes, { ordered: false }));
  }

  /** Removes rows, so that older commits cannot bring them back. */
  private async bury(ids: readonly string[], turn: number): Promise<void> {
    const writes = ids.map((_id): mongo.AnyBulkWriteOperation<RemovedDocument> => ({
      replaceOne: {
        filter: { _id, turn: { $not: { $gte: turn } } },
        replacement: { turn, removedAt: new Date() },
        upsert: true,
      },
    }));
    if (writes.length > 0) await unlessLater(this.removed.bulkWrite(writes, { ordered: false }));
  }

  private async putState(state: Readonly<Record<string, Json | null>>, turn: number): Promise<void> {
    const writes = Object.entries(state).map(([key, value]) => {
      const update =
        value === null
          ? { $set: { turn, removedAt: new Date() }, $unset: { value: '' } }
          : { $set: { turn, value: JSON.stringify(value) }, $unset: { removedAt: '' } };
      return {
        updateOne: {
          filter: { _id: `${this.collection}/${key}`, turn: { $not: { $gte: turn } } },
          update,
          upsert: true,
        },
      };
    });
    // Past the model, whose driver's own type knows no ids that are text.
    if (writes.length > 0)
      await unlessLater(
        this.models.viewState.collection.bulkWrite(writes as unknown as mongo.AnyBulkWriteOperation[], {
          ordered: false,
        }),
      );
  }

  private async removeParts(commit: string, parts: number): Promise<void> {
    if (parts > 0)
      await this.models.journalParts.deleteMany({ _id: { $in: partIds(this.collection, { commit, parts }) } });
  }
}

/** Where what stands is not older the write becomes an insertion, which its key refuses: then this commit, or a later one, is written already. */
const unlessLater = async (written: Promise<unknown>): Promise<void> => {
  await written.catch((error: unknown) => {
    if (!areDuplicateKeys(error)) throw error;
  });
};

const partIds = (collection: string, { commit, parts }: Pick<PendingCommit, 'commit' | 'parts'>): string[] =>
  Array.from({ length: parts }, (_, part) => `${collection}/${commit}/${part}`);

const partsOf = ({ gone, rows }: RowWrites, prefix: string, turn: number): readonly JournalPartDocument[] => {
  const parts: RowDocument[][] = [];
  let room = 0;
  for (const { document } of rows) {
    if (room < document.row.length) {
      parts.push([]);
      room = PART;
    }
    room -= document.row.length;
    parts.at(-1)?.push({ ...document, turn });
  }
  if (parts.length === 0 && gone.length > 0) parts.push([]);
  return parts.map((part, index) => ({ _id: `${prefix}/${index}`, gone: index === 0 ? gone : [], rows: part }));
};
