import { Grouped, type Json } from '@app/kernel';
import { LRUCache } from 'lru-cache';
import type { mongo } from 'mongoose';
import { PAGE_SIZE } from '../find-page';
import { frozen } from '../frozen';
import type { FindOptions, Row, StoredRow } from '../read-store';
import { type RowDocument, STANDING } from './documents';
import { countQuery, pageQueries } from './find-filters';
import type { MongoServer } from './mongo-server';
import type { Answered } from './recently';
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

/** Characters of JSON text whose parsed rows are kept for each collection, with what an object costs beside its text. */
const CAPACITY = 4 * 1024 * 1024;
const OVERHEAD = 200;
const PAGES = 200;

const WHOLE = { position: 1, commit: 1, row: 1 } as const;
type Found = Pick<RowDocument, '_id' | 'position' | 'commit' | 'row'>;

/**
 * Reads one collection of rows. The server is asked unless it was a moment ago; what it says is unchanged is not parsed again,
 * and is the same object. Readers of the same page, or of single rows, share a query when they come at the same time.
 */
export class RowReader {
  private readonly cache = new LRUCache<string, CachedRow>({ maxSize: CAPACITY, sizeCalculation: ({ size }) => size });
  private readonly pages = new LRUCache<string, Page>({ max: PAGES });
  private readonly loads: Grouped<string, StoredRow | undefined>;
  private readonly rows: mongo.Collection<RowDocument>;

  constructor(
    private readonly server: MongoServer,
    collection: string,
    private readonly isRecent: (answered: Answered, ask: () => Promise<unknown>) => boolean,
  ) {
    this.rows = server.db.collection<RowDocument>(collection);
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
    const { filter, hint } = countQuery(indexes, where);
    return this.server.read(() => this.rows.countDocuments({ ...filter, ...STANDING }, { hint }));
  }

  async scan(afterKey: string | null, limit: number): Promise<readonly StoredRow[]> {
    const found = await this.server.read(() =>
      upTo(
        PAGE_SIZE,
        this.rows.find<Found>(
          { ...(afterKey === null ? {} : { _id: { $gt: afterKey } }), ...STANDING },
          { projection: WHOLE, sort: { _id: 1 }, limit },
        ),
      ),
    );
    return found.map(({ _id, position, row }) => ({
      key: _id,
      position,
      row: JSON.parse(row) as Row,
      size: row.length,
    }));
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
    for (const { filter, sort, hint } of pageQueries(indexes, options)) {
      const part = await this.server.read(() =>
        upTo(
          most - size,
          this.rows.find<Found>(
            { ...filter, ...STANDING },
            { projection: WHOLE, sort: { ...sort }, hint, limit: limit - rows.length },
          ),
        ),
      );
      for (const row of part) rows.push(this.shared(row, askedAt));
      for (const row of part) size += row.row.length;
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
    for (const row of await this.read<Found>(
      wanted.filter((key) => !found.has(key)),
      WHOLE,
    ))
      found.set(row._id, this.shared(row, askedAt));
    return keys.map((key) => found.get(key));
  }

  /** The cached ones among rows that are still what they were. */
  private async unchanged(keys: readonly string[], askedAt: number): Promise<Map<string, StoredRow>> {
    const found = new Map<string, StoredRow>();
    for (const { _id, commit } of await this.read<Pick<Found, '_id' | 'commit'>>(keys, { commit: 1 })) {
      const known = this.known(_id, commit, askedAt);
      if (known !== undefined) found.set(_id, known);
    }
    return found;
  }

  private async read<T extends Partial<Found>>(
    keys: readonly string[],
    projection: Readonly<Partial<Record<keyof Found, 1>>>,
  ): Promise<readonly T[]> {
    if (keys.length === 0) return [];
    const [only] = keys;
    const filter = keys.length === 1 && only !== undefined ? { _id: { $eq: only } } : { _id: { $in: [...keys] } };
    const found = await this.server.read(() =>
      this.rows.find<T>(filter, { projection, singleBatch: keys.length === 1 }).toArray(),
    );
    // What was removed may have left its key, and nothing else of a row.
    return found.filter(({ commit }) => commit !== undefined);
  }

  /** The cached object of a row, if the commit that wrote it is still the last. */
  private known(key: string, commit: string, askedAt: number): StoredRow | undefined {
    const entry = this.cache.get(key);
    if (entry?.commit !== commit) return undefined;
    entry.askedAt = Math.max(entry.askedAt, askedAt);
    return entry.stored;
  }

  private shared({ _id, position, commit, row }: Found, askedAt: number): StoredRow {
    const known = this.known(_id, commit, askedAt);
    if (known !== undefined) return known;
    const stored: StoredRow = Object.freeze({
      key: _id,
      position,
      row: frozen(JSON.parse(row) as Record<string, Json>),
      size: row.length,
    });
    this.cache.set(_id, { stored, commit, size: row.length + OVERHEAD, askedAt });
    return stored;
  }
}

/** Documents until their rows come to so many characters; no further batch is asked for then. */
const upTo = async (most: number, cursor: mongo.FindCursor<Found>): Promise<readonly Found[]> => {
  if (most === Infinity) return cursor.toArray();
  const found: Found[] = [];
  let size = 0;
  for await (const document of cursor) {
    found.push(document);
    size += document.row.length;
    if (size >= most) break;
  }
  return found;
};
