import { Unavailable } from '@app/kernel';
import { LogCorrupted } from '../event-log';
import { LOG_FILE } from './log-files';

export const LOG_DEPENDENCY = 'event log';

/** SQLite's extended result code, such as `SQLITE_FULL`; undefined for other errors. */
export const sqliteCode = (error: unknown): string | undefined => {
  const code = error instanceof Error && error.name === 'SqliteError' ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : undefined;
};

/** Says why in one sentence, without paths. */
export const reasonOf = (error: unknown): string => {
  const code = sqliteCode(error);
  if (code === 'SQLITE_FULL') return 'the disk is full';
  if (code?.startsWith('SQLITE_IOERR_FSYNC') === true) return 'the disk did not confirm a write (fsync failed)';
  if (code?.startsWith('SQLITE_IOERR') === true) return `the disk failed (${code})`;
  return code ?? (error instanceof Error ? error.message : String(error));
};

/** What a failed read means for the reader: damage, or a store that cannot serve now. */
export const readError = (error: unknown): unknown => {
  const code = sqliteCode(error);
  if (code === undefined) return error;
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return new LogCorrupted(LOG_FILE, `SQLite says ${code}`);
  return new Unavailable(LOG_DEPENDENCY, reasonOf(error), 'none', { cause: error });
};
