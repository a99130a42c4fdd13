import { Grouped } from '@app/kernel';
import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { PAGE_SIZE } from '../find-page';
import { frozen } from '../frozen';
import type { FindOptions, StoredRow } from '../read-store';
import { countQuery, pageQueries } from './find-filters';
import type { MongoServer } from './mongo-server';
import type { Answered } from './ttl-cache';
import type { RowFormat } from './row-format';
import type { Place } from './views';

/** A parsed row. Everybody gets the same object, so it is frozen in depth. */
interface CachedRow extends Answered {
  readonly stored: StoredRow;
  readonly commit: string;
  readonly size: number;
}

/** A page that is asked for again and again. */
interface Page extends Answered {
  rows: readonly StoredRow[];
  readonly reads: Grouped<void, readonly StoredRow[]>;
}

/** Characters of rows as JSON that are kept for each collection, with what an object costs beside its text. */
const CAPACITY = 4 * 1024 * 1024;
const OVERHEAD = 200;
const PAGES = 200;

/** A document of the collection, in its format. */
type Found = { readonly _id: string } & mongo.Document;

/**
 * Reads one collection of rows. The server is asked unless it was a moment ago; what it says is unchanged is not parsed again,
 * and is the same object. Readers of the same page, or of single rows, share a query when they come at the same time.
 */
export class RowReader {
  private readonly cache = new LRUCache<string, CachedRow>({ maxSize: CAPACITY, sizeCalculation: ({ size }) => size });
  private readonly pages = new LRUCache<string, Page>({ max: PAGES });
  private readonly loads: Grouped<string, StoredRow | undefined>;
  private readonly rows: mongo.Collection<Found>;

  constructor(
    private readonly server: MongoServer,
    collection: string,
    private readonly format: RowFormat,
    private readonly isRecent: (answered: Answered, ask: () => Promise<unknown>) => boolean,
  ) {
    this.rows = server.db.collection<Found>(collection);
    this.loads = new Grouped((keys) => this.load(keys));
  }

  async get(key: string): Promise<StoredRow | undefined> {
    const entry = this.cache.get(key);
    const ask = (): Promise<StoredRow | undefined> => this.loads.join(key);
    return entry !== undefined && this.isRecent(entry, ask) ? entry.stored : ask();
  }

  async getMany(keys: readonly string[]): Promise<readonly StoredRow[]> {
    const found = await Promise.all(keys.map((key) => this.get(key)));
    return found.filter((row) => row !== undefined);
  }

  async find(place: Place, options: FindOptions): Promise<readonly StoredRow[]> {
    const name = JSON.stringify(options);
    const page = this.pages.get(name) ?? this.page(place, options);
    this.pages.set(name, page);
    const ask = (): Promise<readonly StoredRow[]> => page.reads.join();
    return this.isRecent(page, ask) ? page.rows : ask();
  }

  count({ indexes }: Place, where: FindOptions['where']): Promise<number> {
    const { filter, hint } = countQuery(indexes, where, this.format);
    return this.server.read(() => this.rows.countDocuments(filter as mongo.Filter<Found>, { hint }));
  }

  async scan(afterKey: string | null, limit: number): Promise<readonly StoredRow[]> {
    const filter = { ...this.format.base, ...(afterKey === null ? {} : { _id: { $gt: afterKey } }) };
    const found = await this.server.read(() =>
      this.upTo(PAGE_SIZE, this.rows.find(filter as mongo.Filter<Found>, { ...this.whole, sort: { _id: 1 }, limit })),
    );
    return found.map((document) => this.stored(document));
  }

  private page(place: Place, options: FindOptions): Page {
    const reads = new Grouped<void, readonly StoredRow[]>(async (callers) => {
      const askedAt = performance.now();
      const rows = Object.freeze(await this.found(place, options, askedAt));
      Object.assign(page, { rows, askedAt });
      return callers.map(() => rows);
    });
    const page: Page = { rows: [], askedAt: -Infinity, reads };
    return page;
  }

  private async found({ indexes }: Place, options: FindOptions, askedAt: number): Promise<StoredRow[]> {
    const rows: StoredRow[] = [];
    const { limit, most = Infinity } = options;
    let size = 0;
    for (const { filter, sort, hint } of pageQueries(indexes, options, this.format)) {
      const part = await this.server.read(() =>
        this.upTo(
          most - size,
          this.rows.find(filter as mongo.Filter<Found>, {
            ...this.whole,
            sort: { ...sort },
            hint,
            limit: limit - rows.length,
          }),
        ),
      );
      for (const document of part) rows.push(this.shared(document, askedAt));
      for (const document of part) size += this.format.head(document).size;
      if (rows.length >= limit || size >= most) break;
    }
    return rows;
  }

  /** Of cached rows only the commit is read first. */
  private async load(keys: readonly string[]): Promise<readonly (StoredRow | undefined)[]> {
    const askedAt = performance.now();
    const wanted = [...new Set(keys)];
    const found = await this.unchanged(
      wanted.filter((key) => this.cache.get(key) !== undefined),
      askedAt,
    );
    for (const document of await this.read(
      wanted.filter((key) => !found.has(key)),
      this.whole,
    ))
      found.set(document._id, this.shared(document, askedAt));
    return keys.map((key) => found.get(key));
  }

  /** The cached ones among rows that are still what they were. */
  private async unchanged(keys: readonly string[], askedAt: number): Promise<Map<string, StoredRow>> {
    const found = new Map<string, StoredRow>();
    for (const document of await this.read(keys, { projection: this.format.commitOnly })) {
      const known = this.known(document._id, this.format.head(document).commit, askedAt);
      if (known !== undefined) found.set(document._id, known);
    }
    return found;
  }

  private async read(keys: readonly string[], options: mongo.FindOptions): Promise<readonly Found[]> {
    if (keys.length === 0) return [];
    const [only] = keys;
    const filter = {
      ...this.format.base,
      _id: keys.length === 1 && only !== undefined ? { $eq: only } : { $in: [...keys] },
    };
    return this.server.read(() =>
      this.rows.find(filter as mongo.Filter<Found>, { ...options, singleBatch: keys.length === 1 }).toArray(),
    );
  }

  private get whole(): mongo.FindOptions {
    return this.format.whole === undefined ? {} : { projection: this.format.whole };
  }

  /** The cached object of a row, if the commit that wrote it is still the last. */
  private known(key: string, commit: string, askedAt: number): StoredRow | undefined {
    const entry = this.cache.get(key);
    if (entry?.commit !== commit) return undefined;
    entry.askedAt = Math.max(entry.askedAt, askedAt);
    return entry.stored;
  }

  private shared(document: Found, askedAt: number): StoredRow {
    const { commit } = this.format.head(document);
    const known = this.known(document._id, commit, askedAt);
    if (known !== undefined) return known;
    const stored = frozen(this.stored(document));
    this.cache.set(document._id, { stored, commit, size: stored.size + OVERHEAD, askedAt });
    return stored;
  }

  private stored(document: Found): StoredRow {
    const { position, size } = this.format.head(document);
    return { key: document._id, position, row: this.format.row(document), size };
  }

  /** Documents until their rows come to so many characters; no further batch is asked for then. */
  private async upTo(most: number, cursor: mongo.FindCursor<Found>): Promise<readonly Found[]> {
    if (most === Infinity) return cursor.toArray();
    const found: Found[] = [];
    let size = 0;
    for await (const document of cursor) {
      found.push(document);
      size += this.format.head(document).size;
      if (size >= most) break;
    }
    return found;
  }
}
