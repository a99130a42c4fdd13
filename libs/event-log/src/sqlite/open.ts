import { type EventLog, LogCorrupted, type LogReader } from '../event-log';
import { EventTable } from './event-table';
import { lockLogFolder, LogInUse } from './folder-lock';
import { readHeadMark } from './head-mark';
import { KnownLog } from './known-log';
import { checkSchema, openForReading } from './log-files';
import { LogWriter } from './log-writer';
import { checkBeforeOpening } from './opening-check';
import { positionText } from './positions';
import { SqliteEventLog } from './sqlite-event-log';
import { SqliteLogReader } from './sqlite-log-reader';

/**
 * Opens the log in a folder for this process alone, and makes it where there is none. Throws `LogInUse` while another
 * process has it open, `LogCorrupted` when it is damaged.
 */
export const openSqliteEventLog = async ({ folder }: { readonly folder: string }): Promise<EventLog> => {
  const lock = lockLogFolder(folder);
  try {
    const known = new KnownLog();
    const writer = await LogWriter.open(folder, known);
    const database = openForReading(folder);
    const reader = new SqliteLogReader(new EventTable(database), () => known.head, () => database.close());
    return new SqliteEventLog(known, writer, reader, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
};

/**
 * Opens the log for reading alone, in any thread or process, whether a server runs or not. It sees what is committed at
 * the time of each read. Throws `LogCorrupted`.
 */
export const openSqliteLogReader = async ({ folder }: { readonly folder: string }): Promise<LogReader> => {
  checkIfAtRest(folder);
  const database = openForReading(folder);
  checkSchema(database);
  const table = new EventTable(database);
  const bound = (): number => {
    const acknowledged = readHeadMark(folder);
    const head = table.lastPosition();
    if (head < acknowledged) throw new LogCorrupted(`position ${positionText(head + 1)}`, `the log ends before it, ${positionText(acknowledged)} was acknowledged`);
    return head;
  };
  return new SqliteLogReader(table, bound, () => database.close());
};

/** While a server runs it has checked the log, and its write-ahead log is in motion. */
const checkIfAtRest = (folder: string): void => {
  try {
    const lock = lockLogFolder(folder);
    try {
      checkBeforeOpening(folder);
    } finally {
      lock.release();
    }
  } catch (error) {
    if (!(error instanceof LogInUse)) throw error;
  }
};
