import { LogCorrupted } from '../event-log';
import { LOG_FILE } from './log-files';

export const LOG_DEPENDENCY = 'event log';

/** SQLite's extended result code, such as `SQLITE_FULL`; undefined for other errors. By shape, since the driver has one class a process. */
export const sqliteCode = (error: unknown): string | undefined => {
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  return name === 'SqliteError' && typeof code === 'string' ? code : undefined;
};

/** Describes an error in one sentence, without paths. */
export const reasonOf = (error: unknown): string => {
  const code = sqliteCode(error);
  if (code === 'SQLITE_FULL') return 'the disk is full';
  // Where the little file beside a log that its readers share finds no space.
  if (code === 'SQLITE_IOERR_SHMSIZE') return 'the disk is full, or cannot be written (SQLITE_IOERR_SHMSIZE)';
  if (code?.startsWith('SQLITE_CANTOPEN') === true || code?.startsWith('SQLITE_READONLY') === true)
    return `its folder cannot be written (${code})`;
  if (code?.startsWith('SQLITE_IOERR_FSYNC') === true) return 'the disk did not confirm a write (fsync failed)';
  if (code?.startsWith('SQLITE_IOERR') === true) return `the disk failed (${code})`;
  return code ?? (error as Error).message;
};

/** The damage that SQLite found; undefined for other errors. */
export const damageOf = (error: unknown): LogCorrupted | undefined => {
  const code = sqliteCode(error);
  return code?.startsWith('SQLITE_CORRUPT') === true || code === 'SQLITE_NOTADB'
    ? new LogCorrupted(LOG_FILE, `SQLite says ${code}`)
    : undefined;
};
