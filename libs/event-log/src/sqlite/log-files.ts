import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { LogCorrupted, LogUnfinished } from '../event-log';

/** The files in the log's folder. SQLite keeps `-wal` and `-shm` beside the database. */
export const LOG_FILE = 'events.sqlite';
export const HEAD_FILE = 'head';
export const LOCK_FILE = 'lock';
/** What a restore copies the log into; it is there from its beginning to its end. */
export const RESTORED_FILE = 'events.sqlite.unfinished';
/** There from the first event of an import to its end. */
export const IMPORTED_FILE = 'import.unfinished';

/** Wait this long for the lock of another connection. */
export const LOCK_MS = 5_000;

/** Version of the tables below. A log of another version is rejected. */
const FORMAT = 1;

const EVENTS = `CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  stream TEXT NOT NULL,
  revision INTEGER NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  metadata TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT`;
/**
 * The places of the events of a stream. Filled after the appends in sorted batches, because each single entry would
 * dirty a page.
 */
const PLACES = `CREATE TABLE places (
  stream TEXT NOT NULL,
  revision INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (stream, revision)
) STRICT, WITHOUT ROWID`;
/** One row: all events up to this position stand in \`places\`. */
const INDEXED = 'CREATE TABLE indexed (up_to INTEGER NOT NULL) STRICT';
/** Written to after a failure, to learn whether there is space again. */
const PROBE = 'CREATE TABLE probe (filler BLOB NOT NULL) STRICT';
/** Ordered by name. */
const TABLES = [EVENTS, INDEXED, PLACES, PROBE];

const REMEDY = 'remove the folder and the stores beside it';

/** Throws `LogUnfinished`, but for the import that goes on. */
export const assertFinished = (folder: string, imports: boolean): void => {
  if (existsSync(join(folder, RESTORED_FILE)) && !existsSync(join(folder, LOG_FILE)))
    throw new LogUnfinished('a restore', folder, REMEDY);
  if (existsSync(join(folder, IMPORTED_FILE)) && !imports) throw new LogUnfinished('an import', folder, REMEDY);
};

/** Opens the writer's connection. Creates a missing log. Throws `LogCorrupted`. */
export const openForWriting = (folder: string): Database.Database => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = new Database(join(folder, LOG_FILE), { timeout: LOCK_MS });
  return closeUnless(database, () => prepare(database));
};

const prepare = (database: Database.Database): Database.Database => {
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  // Checkpoint after the answers are sent, so that no append waits for it.
  database.pragma('wal_autocheckpoint = 0');
  database.pragma('cache_size = -32768');
  database.pragma('secure_delete = ON');
  if (isEmpty(database)) {
    database.transaction(() => {
      for (const statement of TABLES) database.exec(statement);
      database.exec('INSERT INTO indexed VALUES (0)');
      database.pragma(`user_version = ${FORMAT}`);
    })();
  }
  checkSchema(database);
  return database;
};

/** Runs `use`. Closes the connection if that fails. */
export const closeUnless = <T>(database: Database.Database, use: () => T): T => {
  try {
    return use();
  } catch (error) {
    database.close();
    throw error;
  }
};

/** Opens a read-only connection, for any thread or process. */
export const openForReading = (folder: string): Database.Database => {
  const database = new Database(join(folder, LOG_FILE), { readonly: true, fileMustExist: true, timeout: LOCK_MS });
  return closeUnless(database, () => {
    database.pragma('cache_size = -16384');
    return database;
  });
};

/** True for a log whose process died while creating it. */
export const isEmpty = (database: Database.Database): boolean =>
  database.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0;

/** Throws `LogCorrupted`: a flipped bit in the schema must not pass for another program's log. */
export const checkSchema = (database: Database.Database): void => {
  const version = database.pragma('user_version', { simple: true });
  if (version !== FORMAT)
    throw new LogCorrupted(
      LOG_FILE,
      `its format is ${String(version)}, this program knows ${FORMAT}; if a newer version of the program wrote it, start that one`,
    );
  const found = database
    .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .pluck()
    .all();
  if (found.join(';') !== TABLES.join(';')) throw new LogCorrupted(LOG_FILE, 'its tables are not those of a log');
};
