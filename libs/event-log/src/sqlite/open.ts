import { type EventLog, LogCorrupted, type LogReader } from '../event-log';
import { EventTable } from './event-table';
import { lockLogFolder, LogInUse } from './folder-lock';
import { readHeadMark } from './head-mark';
import { KnownLog } from './known-log';
import { checkSchema, closeUnless, openForReading } from './log-files';
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
    return new SqliteEventLog(known, writer, openReader(folder, () => () => known.head), lock);
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
  const markAtOpening = readHeadMark(folder);
  return openReader(folder, (table) => () => {
    const mark = readHeadMark(folder);
    const head = table.lastPosition();
    // The mark of a log at rest may be beyond a tail that was cut off: checked above, and put right when a server opens it.
    if (head >= mark || mark === markAtOpening) return head;
    throw new LogCorrupted(`position ${positionText(head + 1)}`, `the log ends before it, ${positionText(mark)} was acknowledged`);
  });
};

const openReader = (folder: string, boundOf: (table: EventTable) => () => number): SqliteLogReader => {
  const database = openForReading(folder);
  return closeUnless(database, () => {
    checkSchema(database);
    const table = new EventTable(database);
    return new SqliteLogReader(table, boundOf(table), () => database.close());
  });
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
