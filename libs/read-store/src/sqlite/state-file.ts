import { canonicalJson, type Json } from '@app/kernel/threads';
import Database from 'better-sqlite3';
import { openForWriting } from './sqlite-file';

/** Throws SQLite's error for a damaged file, also where the damage lies in what is not read at opening. */
export const checkState = (db: Database.Database): void => {
  const found = db.pragma('quick_check(1)', { simple: true });
  if (found !== 'ok') throw new Database.SqliteError(String(found), 'SQLITE_CORRUPT');
};

/** Opens `state.sqlite` for writing, and makes its tables: which version of each view is served, and entries by key. */
export const openStateFile = (file: string): Database.Database => {
  const db = openForWriting(file);
  try {
    // Unlike views, this state cannot be made again from the log: a machine that dies must not forget it.
    db.pragma('synchronous = FULL');
    db.transaction(() => {
      db.exec(`
        create table if not exists live(view text primary key, version integer not null) without rowid;
        create table if not exists state(key text primary key, value text not null) without rowid;`);
    }).immediate();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};

/** The served version of each view. */
export const readLive = (db: Database.Database): ReadonlyMap<string, number> =>
  new Map(db.prepare('select view, version from live').raw().all() as [string, number][]);

/** Makes `to` the served version if `from` is. */
export const swapLive = (db: Database.Database, view: string, from: number | undefined, to: number): boolean =>
  db
    .transaction(() => {
      if (db.prepare('select version from live where view = ?').pluck().get(view) !== from) return false;
      db.prepare('insert into live values (?, ?) on conflict (view) do update set version = excluded.version').run(
        view,
        to,
      );
      return true;
    })
    .immediate();

/** Writes or removes an entry if the present value is the expected one. */
export const writeEntry = (
  db: Database.Database,
  key: string,
  value: Json | null,
  options?: { readonly expected: Json | undefined },
): boolean =>
  db
    .transaction(() => {
      const present = db.prepare('select value from state where key = ?').pluck().get(key) as string | undefined;
      if (
        options !== undefined &&
        present !== (options.expected === undefined ? undefined : canonicalJson(options.expected))
      )
        return false;
      if (value === null) db.prepare('delete from state where key = ?').run(key);
      else
        db.prepare('insert into state values (?, ?) on conflict (key) do update set value = excluded.value').run(
          key,
          canonicalJson(value),
        );
      return true;
    })
    .immediate();

/** Reads the entries of `state.sqlite`, over a connection that is its own from then on. */
export class EntryReader {
  private readonly entry;
  private readonly entries;

  constructor(readonly db: Database.Database) {
    this.entry = db.prepare('select value from state where key = ?').pluck();
    this.entries = db.prepare(
      'select key, value from state where key > ? and key >= ? and key < ? order by key limit ?',
    );
  }

  read(key: string): Json | undefined {
    const value = this.entry.get(key) as string | undefined;
    return value === undefined ? undefined : (JSON.parse(value) as Json);
  }

  list(prefix: string, after: string, limit: number): readonly { key: string; value: Json }[] {
    const found = this.entries.all(after, prefix, `${prefix}\u{10ffff}`, limit) as { key: string; value: string }[];
    return found.map(({ key, value }) => ({ key, value: JSON.parse(value) as Json }));
  }

  close(): void {
    this.db.close();
  }
}
