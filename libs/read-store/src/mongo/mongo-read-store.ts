import type { Json } from '@app/kernel';
import type { Checkpoint, FindOptions, ReadStore, RowBatch, StoredRow, ViewSpec } from '../read-store';
import { idsBeginning, type Models, modelsOf } from './documents';
import { type MongoServer, openMongoServer } from './mongo-server';
import { TtlCache } from './ttl-cache';
import { RowReader } from './row-reader';
import { Entries } from './state-entries';
import { sliceId, transactionalCommits } from './transactional-commits';
import { type Place, ROW_FORMAT, Views } from './views';

export interface MongoReadStoreOptions {
  /** `mongodb://` or `mongodb+srv://`; the database is `platform` where it names none. */
  readonly url: string;
}

/**
 * The read store on a replica set, or a sharded cluster, of MongoDB: one collection per view version, whose documents are the rows. Any
 * number of processes may share it. Rows and checkpoint commit in one transaction. Throws `NoReplicaSet` where there are no transactions,
 * `Unavailable` when nothing answers.
 */
export const openMongoReadStore = async ({ url }: MongoReadStoreOptions): Promise<ReadStore> => {
  const server = await openMongoServer({ url, dependency: 'views' });
  return new MongoReadStore(server, await modelsOf(server.database));
};

class MongoReadStore implements ReadStore {
  readonly rowFormat = ROW_FORMAT;
  /** In one transaction, which the server ends after a minute. */
  readonly mostAtOnce = 4_000;
  private readonly views: Views;
  private readonly commitBatch: (batch: RowBatch) => Promise<void>;
  private readonly entries: Entries;
  private readonly readers = new Map<string, RowReader>();
  private readonly answers = new TtlCache();
  private readonly current = new Map<string, string | null>();

  constructor(
    private readonly server: MongoServer,
    private readonly models: Models,
  ) {
    this.views = new Views(server, models, this.answers);
    this.commitBatch = transactionalCommits(server, models, this.views);
    this.entries = new Entries(server, models);
  }

  prepare(view: ViewSpec): Promise<void> {
    return this.views.prepare(view);
  }

  async live(view: string): Promise<number | undefined> {
    return (await this.views.find(view))?.live;
  }

  async versions(view: string): Promise<readonly number[]> {
    const found = await this.views.find(view);
    return (found?.versions ?? []).map(({ version }) => version).toSorted((a, b) => a - b);
  }

  swap(view: string, from: number | undefined, to: number): Promise<boolean> {
    return this.views.swap(view, from, to);
  }

  drop(view: string, version: number): Promise<void> {
    return this.views.drop(view, version);
  }

  async get(view: string, key: string, version?: number): Promise<StoredRow | undefined> {
    return this.reader(await this.views.place(view, version)).get(key);
  }

  async getMany(view: string, keys: readonly string[], version?: number): Promise<readonly StoredRow[]> {
    return this.reader(await this.views.place(view, version)).getMany(keys);
  }

  async find(view: string, options: FindOptions, version?: number): Promise<readonly StoredRow[]> {
    const place = await this.views.place(view, version);
    return this.reader(place).find(place, options);
  }

  async count(view: string, where?: FindOptions['where'], version?: number): Promise<number> {
    const place = await this.views.place(view, version);
    return this.reader(place).count(place, where);
  }

  async scan(view: string, version: number, afterKey: string | null, limit: number): Promise<readonly StoredRow[]> {
    return this.reader(await this.views.place(view, version)).scan(afterKey, limit);
  }

  async checkpoint(view: string, version: number, slice?: number): Promise<Checkpoint | undefined> {
    const made = (await this.views.find(view))?.versions.find(
      (each) => each.version === version && each.dropping !== true,
    );
    if (made === undefined) return undefined;
    const id = sliceId(made.collection, slice);
    const found = await this.server.read(() => this.models.slices.findById(id).lean());
    const position = found?.position ?? null;
    // Whoever waits for the view to come here reads its rows next.
    if (this.current.get(id) !== position) this.answers.move(view);
    this.current.set(id, position);
    return { position, handled: found?.handled ?? 0 };
  }

  async viewState(view: string, version: number): Promise<readonly { readonly key: string; readonly value: Json }[]> {
    const prefix = `${(await this.views.place(view, version)).collection}/`;
    // What version 1.5 removed on a server outside of a replica set has no value.
    const found = await this.server.read(() =>
      this.models.viewState
        .find({ _id: idsBeginning(prefix), value: { $exists: true } })
        .sort({ _id: 1 })
        .lean(),
    );
    return found.map(({ _id, value }) => ({ key: _id.slice(prefix.length), value: JSON.parse(value) as Json }));
  }

  async commit(batch: RowBatch): Promise<void> {
    try {
      await this.commitBatch(batch);
    } finally {
      this.answers.move(batch.view);
    }
  }

  readState(key: string): Promise<Json | undefined> {
    return this.entries.read(key);
  }

  listState(
    prefix: string,
    { after = '', limit = 1_000 }: { readonly after?: string; readonly limit?: number } = {},
  ): Promise<readonly { key: string; value: Json }[]> {
    return this.entries.list(prefix, after, limit);
  }

  writeState(key: string, value: Json | null, options?: { readonly expected: Json | undefined }): Promise<boolean> {
    return this.entries.write(key, value, options);
  }

  /** Nothing to do: MongoDB reuses the room of what is removed by itself, and offers no way to overwrite it. */
  async purge(): Promise<void> {}

  health(): Promise<{ readonly ok: boolean; readonly reason?: string }> {
    return this.server.health();
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private reader({ view, collection, format }: Place): RowReader {
    const known =
      this.readers.get(collection) ??
      new RowReader(this.server, collection, format, (answered, ask) => this.answers.holds(view, answered, ask));
    this.readers.set(collection, known);
    return known;
  }
}
