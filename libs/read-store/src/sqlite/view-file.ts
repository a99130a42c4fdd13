import type { Position } from '@app/kernel';
import { canonicalJson, type Json } from '@app/kernel/threads';
import type Database from 'better-sqlite3';
import {
  type Checkpoint,
  CheckpointMismatch,
  Fenced,
  type IndexSpec,
  type Row,
  type RowBatch,
  type ViewSpec,
} from '../read-store';
import { comparable, indexBeginningWith, type Scalar } from '../index-choice';
import { RowFold, type StoredRows } from '../row-fold';
import { createIndexSql, fieldSql } from './index-sql';
import { readSlicePlace, writeSlicePlace } from './slice-places';

/**
 * What a view file says of itself. `fence`: the highest a writer came with; `commits` numbers the commits, which rows carry so that
 * readers see that one changed. In the file also `loose`: content was removed since the last purge.
 */
export interface ViewHead extends Checkpoint {
  readonly indexes: readonly IndexSpec[];
  readonly fence: number;
  readonly commits: number;
}

/** Reads the head of a view file; undefined while the file is not yet made. */
export const readHead = (db: Database.Database): ViewHead | undefined => {
  const made =
    db.prepare(`select count(*) from sqlite_schema where type = 'table' and name = 'head'`).pluck().get() === 1;
  const head = made
    ? (db.prepare('select indexes, position, handled, fence, commits from head').get() as
        (Omit<ViewHead, 'indexes'> & { indexes: string }) | undefined)
    : undefined;
  return head && { ...head, indexes: JSON.parse(head.indexes) as IndexSpec[] };
};

/** Makes the tables of a version, or checks that the version was made with the same indexes. */
export const prepareFile = (db: Database.Database, { name, version, indexes }: ViewSpec): void => {
  db.transaction(() => {
    const head = readHead(db);
    if (head === undefined) {
      db.exec(`
        create table head(indexes text not null, position text, handled integer not null, fence integer not null, commits integer not null, loose integer not null);
        create table rows(key text primary key, position text not null, changed integer not null, row text not null);
        create table state(key text primary key, value text not null) without rowid;`);
      for (const index of indexes) db.exec(createIndexSql(index));
      db.prepare('insert into head values (?, null, 0, 0, 0, 0)').run(canonicalJson(indexes));
    } else if (canonicalJson(head.indexes) !== canonicalJson(indexes)) {
      throw new Error(
        `view ${name} v${version} was made with other indexes than are declared now; give the projection a new version`,
      );
    }
  }).immediate();
};

/** The writing side of one version of a view. */
export class ViewFile implements StoredRows {
  private readonly indexes: readonly IndexSpec[];
  private readonly statements;
  private readonly lookups = new Map<string, Database.Statement>();

  constructor(
    readonly db: Database.Database,
    head: ViewHead,
  ) {
    this.indexes = head.indexes;
    this.statements = {
      head: db.prepare('select position, fence, commits from head'),
      advance: db.prepare('update head set position = ?, handled = ?, fence = ?, commits = ?, loose = max(loose, ?)'),
      committed: db.prepare('update head set commits = ?, loose = max(loose, ?)'),
      load: db.prepare('select position, row from rows where key = ?'),
      remove: db.prepare('delete from rows where key = ?'),
      put: db.prepare(
        `insert into rows values (?, ?, ?, ?)
         on conflict (key) do update set position = max(position, excluded.position), changed = excluded.changed, row = excluded.row`,
      ),
      setState: db.prepare('insert into state values (?, ?) on conflict (key) do update set value = excluded.value'),
      removeState: db.prepare('delete from state where key = ?'),
    };
  }

  /** One transaction: rows, checkpoint, fence and state, or nothing. */
  commit(batch: RowBatch): void {
    this.db.transaction(() => this.write(batch)).immediate();
  }

  load(key: string): { position: Position; row: Row } | undefined {
    const found = this.statements.load.get(key) as { position: Position; row: string } | undefined;
    return found && { position: found.position, row: JSON.parse(found.row) as Row };
  }

  keysWhere(where: Readonly<Record<string, Scalar>>): readonly string[] {
    const fields = Object.keys(where);
    return this.lookup(indexBeginningWith(this.indexes, fields), fields).all(
      ...Object.values(where).map(comparable),
    ) as string[];
  }

  holder(index: IndexSpec, values: readonly Json[]): string | undefined {
    const fields = index.fields.map(({ field }) => field);
    return this.lookup(index, fields).get(...values.map(comparable)) as string | undefined;
  }

  private write({ view, version, slice = 0, changes, from, to, fence, state = {} }: RowBatch): void {
    const head = this.statements.head.get() as ViewHead;
    const place = slice === 0 ? head : readSlicePlace(this.db, slice);
    if (fence < place.fence)
      throw new Fenced(`view ${view} v${version} has a newer writer: fence ${place.fence}, not ${fence}`);
    if (from !== place.position)
      throw new CheckpointMismatch(
        `view ${view} v${version} is at ${place.position ?? 'the start'}, not at ${from ?? 'the start'}`,
      );
    const commit = head.commits + 1;
    const loose = this.writeRows(view, changes, commit) ? 1 : 0;
    for (const [key, value] of Object.entries(state)) this.writeState(key, value);
    if (slice === 0) return void this.statements.advance.run(to.position, to.handled, fence, commit, loose);
    writeSlicePlace(this.db, slice, to, fence);
    this.statements.committed.run(commit, loose);
  }

  private writeRows(view: string, changes: RowBatch['changes'], commit: number): boolean {
    const fold = new RowFold(view, this.indexes, this);
    for (const change of changes) fold.apply(change);
    const unique = this.indexes.some((index) => index.unique);
    // Values of a unique index may have moved between rows: all their old rows go before the first new one comes.
    for (const [key, { removed }] of fold.written()) if (removed || unique) this.statements.remove.run(key);
    for (const [key, { position, row }] of fold.written())
      if (row !== null) this.statements.put.run(key, position, commit, JSON.stringify(row));
    return fold.removesContent;
  }

  private writeState(key: string, value: Json | null): void {
    if (value === null) this.statements.removeState.run(key);
    else this.statements.setState.run(key, JSON.stringify(value));
  }

  private lookup(index: IndexSpec, fields: readonly string[]): Database.Statement {
    const sql = `select key from rows indexed by "${index.name}" where ${fields.map((field) => `${fieldSql(field)} = ?`).join(' and ')}`;
    const known = this.lookups.get(sql) ?? this.db.prepare(sql).pluck();
    this.lookups.set(sql, known);
    return known;
  }
}
