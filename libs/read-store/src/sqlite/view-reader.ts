import { type Json, REMEMBERED, SharedLruCache } from '@app/kernel';
import type Database from 'better-sqlite3';
import { PAGE_SIZE } from '../find-page';
import type { Checkpoint, FindOptions, StoredRow } from '../read-store';
import { type FoundRow, parsedRow, rowCache } from './cached-row';
import { countQuery, pageQueries } from './find-plan';
import { openForReading } from './sqlite-file';
import { readSlicePlace } from './slice-places';
import { readHead, type ViewHead } from './view-file';

/** Rows of a page that is kept: what lists read at once. Longer ones are read in passing, by whoever goes through a view, and would hold more rows than the row cache may. */
const LONGEST_KEPT = 201;
/** Characters that a page costs beside its rows. */
const PAGE_OVERHEAD = 500;

/** A row of a page; a long one comes without its text, which is read only if the row is not cached. */
type FoundInPage = [key: string, position: string, changed: number, row: string | null];
interface Page {
  readonly seen: number;
  /** Characters, about, of the question and of its rows: those may be in no other cache any more. */
  readonly size: number;
  readonly rows: readonly StoredRow[];
}

/**
 * Reads one version of a view, synchronously. What the shared version counters say is unchanged is answered from memory. They are
 * read before the file, never after: what is remembered may then be newer than its mark, but not older.
 */
export class ViewReader {
  private readonly pages = new SharedLruCache<string, Page>(REMEMBERED, ({ size }) => size);
  private readonly cache = rowCache();
  private readonly prepared = new Map<string, Database.Statement>();
  private readonly statements;

  /** Opens a file; undefined while it is not yet made. */
  static open(file: string, changes: () => number): ViewReader | undefined {
    const db = openForReading(file);
    const head = headOf(db);
    return head && new ViewReader(file, db, head, changes);
  }

  private constructor(
    readonly file: string,
    private readonly db: Database.Database,
    private readonly head: ViewHead,
    private readonly changes: () => number,
  ) {
    this.statements = {
      begin: db.prepare('begin'),
      end: db.prepare('commit'),
      changed: db.prepare('select changed from rows where key = ?').pluck(),
      row: db.prepare('select key, position, changed, row from rows where key = ?'),
      scan: db.prepare('select key, position, row from rows where key > ? order by key limit ?'),
      state: db.prepare('select key, value from state order by key'),
      checkpoint: db.prepare<[], Checkpoint>('select position, handled from head'),
    };
  }

  get(key: string, seen = this.changes()): StoredRow | undefined {
    const entry = this.cache.get(key);
    if (entry === undefined) return this.fetched(key, seen);
    if (entry.seen === seen) return entry.stored;
    return this.unchanged(key, this.statements.changed.get(key) as number | undefined, seen) ?? this.fetched(key, seen);
  }

  getMany(keys: readonly string[]): readonly StoredRow[] {
    const seen = this.changes();
    return this.atOneTime(() => keys.flatMap((key) => this.get(key, seen) ?? []));
  }

  find(options: FindOptions): readonly StoredRow[] {
    const seen = this.changes();
    const name = JSON.stringify(options);
    const page = this.pages.get(name);
    if (page?.seen === seen) return page.rows;
    const rows = this.atOneTime(() => this.foundRows(options, seen));
    const same =
      page !== undefined && page.rows.length === rows.length && rows.every((row, index) => row === page.rows[index]);
    const answer = same ? page.rows : Object.freeze(rows);
    if (rows.length <= LONGEST_KEPT)
      this.pages.set(name, {
        seen,
        size: rows.reduce((sum, row) => sum + row.size, name.length + PAGE_OVERHEAD),
        rows: answer,
      });
    return answer;
  }

  count(where: FindOptions['where']): number {
    const { sql, parameters } = countQuery(this.head.indexes, where);
    return this.statement(sql)
      .pluck()
      .get(...parameters) as number;
  }

  scan(afterKey: string | null, limit: number): readonly StoredRow[] {
    const rows: StoredRow[] = [];
    let size = 0;
    for (const { key, position, row } of this.statements.scan.iterate(afterKey ?? '', limit) as Iterable<FoundRow>) {
      rows.push({ key, position, row: JSON.parse(row) as StoredRow['row'], size: row.length });
      size += row.length;
      if (size >= PAGE_SIZE) break;
    }
    return rows;
  }

  checkpoint(slice: number): Checkpoint | undefined {
    const head = this.statements.checkpoint.get();
    if (slice === 0 || head === undefined) return head;
    const { position, handled } = readSlicePlace(this.db, slice);
    return { position, handled };
  }

  state(): readonly { readonly key: string; readonly value: Json }[] {
    return (this.statements.state.all() as { key: string; value: string }[]).map(({ key, value }) => ({
      key,
      value: JSON.parse(value) as Json,
    }));
  }

  close(): void {
    this.pages.clear();
    this.cache.clear();
    this.db.close();
  }

  private foundRows(options: FindOptions, seen: number): StoredRow[] {
    const rows: StoredRow[] = [];
    const { limit, most = Infinity } = options;
    let size = 0;
    for (const { sql, parameters } of pageQueries(this.head.indexes, options)) {
      const found = this.statement(sql)
        .raw()
        .all(...parameters, limit - rows.length) as FoundInPage[];
      for (const [key, position, changed, row] of found) {
        const stored =
          this.unchanged(key, changed, seen) ??
          (row === null ? (this.fetched(key, seen) as StoredRow) : this.parsed({ key, position, changed, row }, seen));
        rows.push(stored);
        size += stored.size;
        if (size >= most) return rows;
      }
      if (rows.length >= limit) break;
    }
    return rows;
  }

  /** The cached row, if the commit that wrote it is still the last. */
  private unchanged(key: string, changed: number | undefined, seen: number): StoredRow | undefined {
    const entry = this.cache.get(key);
    if (entry === undefined || entry.changed !== changed) return undefined;
    entry.seen = seen;
    return entry.stored;
  }

  private fetched(key: string, seen: number): StoredRow | undefined {
    const found = this.statements.row.get(key) as FoundRow | undefined;
    if (found !== undefined) return this.parsed(found, seen);
    this.cache.delete(key);
    return undefined;
  }

  private parsed(found: FoundRow, seen: number): StoredRow {
    const row = parsedRow(found, seen);
    this.cache.set(found.key, row);
    return row.stored;
  }

  /** Runs several reads on one state of the file. */
  private atOneTime<T>(work: () => T): T {
    this.statements.begin.run();
    try {
      return work();
    } finally {
      this.statements.end.run();
    }
  }

  private statement(sql: string): Database.Statement {
    const known = this.prepared.get(sql) ?? this.db.prepare(sql);
    this.prepared.set(sql, known);
    return known;
  }
}

const headOf = (db: Database.Database): ViewHead | undefined => {
  let head: ViewHead | undefined;
  try {
    return (head = readHead(db));
  } finally {
    if (head === undefined) db.close();
  }
};
