import { type EventLog, LogCorrupted, type LogReader } from '../event-log';
import { EventTable } from './event-table';
import { lockLogFolder, LogInUse } from './folder-lock';
import { KnownLog } from './known-log';
import { assertFinished, checkSchema, closeUnless, openForReading } from './log-files';
import { LogFromOutside } from './log-from-outside';
import { LogWriter } from './log-writer';
import { checkBeforeOpening } from './opening-check';
import { SqliteEventLog } from './sqlite-event-log';
import { SqliteLogReader } from './sqlite-log-reader';
import { StreamIndex } from './stream-index';

/**
 * Opens the log in a folder for this process alone, and creates it if needed. Throws `LogInUse` while another process
 * has it open, `LogUnfinished` where a restore was broken off, or an import, unless it is to go on (`imports`), `LogCorrupted` if it is damaged, `Unavailable` if the disk prevents opening it.
 */
export const openSqliteEventLog = async ({
  folder,
  imports = false,
}: {
  readonly folder: string;
  readonly imports?: boolean;
}): Promise<EventLog> => {
  const lock = lockLogFolder(folder);
  try {
    assertFinished(folder, imports);
    const known = new KnownLog();
    const writer = await LogWriter.open(folder, known);
    return new SqliteEventLog(known, writer, readerBesideWriter(folder, known), lock);
  } catch (error) {
    lock.release();
    throw error;
  }
};

/**
 * Opens the log for reading only, in any thread or process, whether a server runs or not. Each read sees everything
 * committed by then. `notice` reports losses of a torn tail. Throws `LogCorrupted`; with `evenIfUnsound`, which is for
 * the analysis of damage, only if nothing of the log can be read.
 */
export const openSqliteLogReader = async ({
  folder,
  evenIfUnsound = false,
}: {
  readonly folder: string;
  readonly evenIfUnsound?: boolean;
}): Promise<LogReader> => {
  const { notice, damage } = checkIfAtRest(folder);
  if (damage !== undefined && !evenIfUnsound) throw damage;
  try {
    const database = openForReading(folder);
    return closeUnless(database, () => {
      checkSchema(database);
      const unsound = damage ?? (evenIfUnsound ? new StreamIndex(database).damage() : undefined);
      return new SqliteLogReader(new LogFromOutside(folder, database), notice, unsound);
    });
  } catch (error) {
    throw damage ?? error;
  }
};

const readerBesideWriter = (folder: string, known: KnownLog): SqliteLogReader => {
  const database = openForReading(folder);
  return closeUnless(database, () => {
    const table = new EventTable(database);
    known.readFrom(table);
    return new SqliteLogReader({
      table,
      index: new StreamIndex(database),
      passed: known.passed,
      head: () => known.head,
      newest: (stream) => known.recent.of(stream),
      close: () => database.close(),
    });
  });
};

/** Skips the check while a server runs: it has checked the log, and is changing the write-ahead log. */
const checkIfAtRest = (folder: string): { readonly notice?: string; readonly damage?: LogCorrupted } => {
  try {
    const lock = lockLogFolder(folder);
    try {
      return checkBeforeOpening(folder);
    } finally {
      lock.release();
    }
  } catch (error) {
    if (error instanceof LogCorrupted) return { damage: error };
    if (!(error instanceof LogInUse)) throw error;
    return {};
  }
};
