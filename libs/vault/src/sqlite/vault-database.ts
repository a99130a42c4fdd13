import { WrongVaultKey } from '../key-files';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Damaged, dataKeyPlace, type KeyOwner } from '@app/kernel/threads';
import Database from 'better-sqlite3';
import { unwrapKey, WRAPPED_BYTES, wrapKey } from '../key-wrapping';

/**
 * A destroyed key's row stays, with zeros for a key: an update of equal size overwrites the bytes where they are, while a
 * delete may move neighbours and leave copies of them behind in a page. The row also keeps its stream from ever getting
 * another key. `thing` of `destroyed_owners` is the selector's text, `cause` of `destroyed` likewise.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS vault (name TEXT PRIMARY KEY, value BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS keys (
    id INTEGER PRIMARY KEY,
    wrapped BLOB NOT NULL,
    thing TEXT NOT NULL UNIQUE,
    user_id TEXT,
    space_id TEXT
  );
  CREATE INDEX IF NOT EXISTS keys_user ON keys (user_id) WHERE user_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS keys_space ON keys (space_id) WHERE space_id IS NOT NULL;
  CREATE TABLE IF NOT EXISTS destroyed (seq INTEGER PRIMARY KEY AUTOINCREMENT, thing TEXT NOT NULL UNIQUE, at TEXT NOT NULL, cause TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS destroyed_cause ON destroyed (cause);
  CREATE TABLE IF NOT EXISTS destroyed_owners (owner TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID;
`;

export const NO_KEY = Buffer.alloc(WRAPPED_BYTES);

/** How long a write waits for that of another process. */
const LOCK_MS = 10_000;

export const vaultFile = (folder: string): string => join(folder, 'vault.sqlite');

/** Opens the vault's file for writing and makes its tables. Throws when `VAULT_KEY` is not the one it was made with. */
export const openVaultDatabase = (folder: string, wrappingKey: Buffer): Database.Database => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = new Database(vaultFile(folder), { timeout: LOCK_MS });
  try {
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.pragma('secure_delete = ON');
    database.exec(SCHEMA);
    checkWrappingKey(database, wrappingKey, folder);
  } catch (error) {
    database.close();
    throw isDamage(error)
      ? new Damaged(
          'vault',
          `${vaultFile(folder)} is damaged: put the keys back from their backup (operator restore --keys)`,
          'none',
          { cause: error },
        )
      : error;
  }
  return database;
};

const isDamage = (error: unknown): boolean =>
  /^SQLITE_(CORRUPT|NOTADB)/.test(String((error as { readonly code?: unknown }).code));

/** Empties the write-ahead log, which holds older pages. False where a reader still needs them: it is not waited for. */
export const emptyWriteAheadLog = (database: Database.Database): boolean => {
  database.pragma('busy_timeout = 0');
  try {
    const [result] = database.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
    return result.busy === 0;
  } finally {
    database.pragma(`busy_timeout = ${LOCK_MS}`);
  }
};

/** A key of no stream, made with the vault: it tells a wrong `VAULT_KEY` from a damaged vault before anything is read. */
const checkWrappingKey = (database: Database.Database, wrappingKey: Buffer, folder: string): void => {
  database.prepare(`INSERT OR IGNORE INTO vault VALUES ('check', ?)`).run(wrapKey(wrappingKey, '', Buffer.alloc(32)));
  const check = database.prepare(`SELECT value FROM vault WHERE name = 'check'`).pluck().get() as Buffer;
  try {
    unwrapKey(wrappingKey, '', check);
  } catch (error) {
    throw new WrongVaultKey(
      `VAULT_KEY is not the key that the vault in ${folder} was made with: give the right one, or nothing encrypted can be read`,
      { cause: error },
    );
  }
};

/** Selects a key by `@key`; for a stream also those of its entities, whose names have a `/` next, which `0` follows. */
const AT_OR_BELOW = `(thing = @key OR (thing > @key || '/' AND thing < @key || '0'))`;

/** Destroys the key of a stream with those of its entities, or of one entity, and leaves their tombstones: also where there is no key yet. Writes nothing where that was done before. */
export const destroyKey = (
  database: Database.Database,
  { key, at, cause }: { readonly key: string; readonly at: string; readonly cause: string },
): void => {
  const { isDone, name, bury, overwrite } = destroyingIn(database);
  if (isDone.get({ key, none: NO_KEY }) === 1) return;
  name.run(NO_KEY, key);
  bury.run({ key, at, cause });
  overwrite.run({ key, none: NO_KEY });
};

interface Destroying {
  readonly isDone: Database.Statement<[{ key: string; none: Buffer }], number>;
  readonly name: Database.Statement;
  readonly bury: Database.Statement;
  readonly overwrite: Database.Statement;
}

/** Prepared once for each connection: that takes longer than to destroy a key. */
const prepared = new WeakMap<Database.Database, Destroying>();

const destroyingIn = (database: Database.Database): Destroying => {
  const known = prepared.get(database) ?? {
    isDone: database
      .prepare<[{ key: string; none: Buffer }], number>(
        `SELECT EXISTS (SELECT 1 FROM destroyed WHERE thing = @key)
          AND NOT EXISTS (SELECT 1 FROM keys WHERE ${AT_OR_BELOW} AND wrapped <> @none)`,
      )
      .pluck() as Database.Statement<[{ key: string; none: Buffer }], number>,
    name: database.prepare('INSERT OR IGNORE INTO keys (wrapped, thing) VALUES (?, ?)'),
    bury: database.prepare(
      `INSERT OR IGNORE INTO destroyed (thing, at, cause) SELECT thing, @at, @cause FROM keys WHERE ${AT_OR_BELOW} ORDER BY thing`,
    ),
    overwrite: database.prepare(`UPDATE keys SET wrapped = @none WHERE ${AT_OR_BELOW}`),
  };
  prepared.set(database, known);
  return known;
};

/** The row of `vault` that holds what is noted beside the keys. */
export const NOTE = 'note';

/** What was noted of other keys does not hold of these. */
export const forgetNote = (database: Database.Database): void =>
  void database.prepare('DELETE FROM vault WHERE name = ?').run(NOTE);

/** Why a key cannot exist though its name has no tombstone: its owner, or the stream of its entity, is destroyed. */
export const causeAbove = (
  database: Database.Database,
  name: string,
  owner: KeyOwner,
): { readonly at: string; readonly cause: string } | undefined => {
  const { stream, entity } = dataKeyPlace(name);
  return database
    .prepare<unknown[], { at: string; cause: string }>(
      `SELECT owner AS cause, at FROM destroyed_owners WHERE owner IN (?, ?)
       UNION ALL SELECT cause, at FROM destroyed WHERE thing = ?`,
    )
    .get(
      ownerText('user', owner.userId ?? ''),
      ownerText('space', owner.spaceId ?? ''),
      entity === undefined ? '' : stream,
    );
};

/** How a selector stands in the database. */
export const ownerText = (kind: 'user' | 'space', id: string): string => `${kind}:${id}`;

/** Writes a page, and in it what stands there already. */
export const rewriteVersion = (database: Database.Database): void => {
  const version = database.pragma('user_version', { simple: true }) as number;
  database.pragma(`user_version = ${version}`);
};
