import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { LOCK_FILE } from './log-files';
import { sqliteCode } from './sqlite-errors';

/** The log is open in another process, or elsewhere in this one. */
export class LogInUse extends Error {
  override readonly name = 'LogInUse';

  constructor(readonly folder: string) {
    super(`the log in ${folder} is in use by another process; stop it first`);
  }
}

export interface FolderLock {
  release(): void;
}

/**
 * Locks the log's folder for this process until released; the operating system releases it when the process dies.
 * Throws `LogInUse`. It is a SQLite lock on an empty file, which nothing else may open: closing it anywhere in the
 * process would release the lock.
 */
export const lockLogFolder = (folder: string): FolderLock => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = new Database(join(folder, LOCK_FILE), { timeout: 0 });
  try {
    file.pragma('journal_mode = MEMORY');
    file.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    file.close();
    throw sqliteCode(error) === 'SQLITE_BUSY' ? new LogInUse(folder) : error;
  }
  return { release: () => file.close() };
};
