import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { LogCorrupted } from '../event-log';
import { EventTable } from './event-table';
import { readHeadMark } from './head-mark';
import { checkSchema, isEmpty, LOG_FILE, openForReading } from './log-files';
import { positionText } from './positions';
import { damageOf, sqliteCode } from './sqlite-errors';
import { StreamIndex } from './stream-index';
import { checkWal } from './wal-check';

/** Bytes. */
const FIRST_PAGE = 4_096;

export interface Opened {
  /** Position of the last event, 0 for an empty log. */
  readonly head: number;
  /** What an operator must know, although the log opens. */
  readonly notice?: string;
}

/**
 * Checks a log that nobody has open, before a writing connection may change or delete its write-ahead log. A torn
 * tail opens, with a notice if acknowledged events are lost with it; anything else that is missing or changed throws
 * `LogCorrupted`.
 */
export const checkBeforeOpening = (folder: string): Opened => {
  const acknowledged = readHeadMark(folder);
  if (!existsSync(join(folder, LOG_FILE))) {
    if (acknowledged === 0) return { head: 0 };
    throw new LogCorrupted(LOG_FILE, `it is gone, ${positionText(acknowledged)} was acknowledged`);
  }
  const wal = checkWal(join(folder, `${LOG_FILE}-wal`));
  const place = `frame ${wal.damaged ?? wal.frames + 1} of the write-ahead log`;
  if (wal.damaged !== undefined) throw new LogCorrupted(place, 'later commits follow one that is not whole');
  const head = soundHead(folder);
  if (head >= acknowledged) return { head };
  if (wal.wholeFrameFollows || wal.frames === 0)
    throw new LogCorrupted(
      place,
      `the log ends at position ${positionText(head)}, ${positionText(acknowledged)} was acknowledged`,
    );
  return {
    head,
    notice: `the tail of the log was cut off: it ends at position ${positionText(head)}, ${positionText(acknowledged)} had been acknowledged`,
  };
};

/** The last position, when the index of streams has as many entries as it says: positions have no gaps, so their number is known. */
const soundHead = (folder: string): number => {
  try {
    const database = openForReading(folder);
    try {
      if (isEmpty(database)) return 0;
      checkSchema(database);
      const table = new EventTable(database);
      const head = table.lastPosition();
      const index = new StreamIndex(database);
      const [upTo, entries] = [index.upTo(), index.entries()];
      if (entries !== upTo || upTo > head)
        throw new LogCorrupted(
          'the index of streams',
          `it has ${entries} entries up to position ${upTo}, the log has ${head} events`,
        );
      return head;
    } finally {
      database.close();
    }
  } catch (error) {
    if (isBeingMade(folder, error)) return 0;
    throw damageOf(error) ?? error;
  }
};

/**
 * The machine died while it made the file: the journal of its first page is still there, which only a connection that writes
 * takes back. A log whose tables were made has more pages, and no such journal ever again.
 */
const isBeingMade = (folder: string, error: unknown): boolean =>
  sqliteCode(error) === 'SQLITE_READONLY_ROLLBACK' && statSync(join(folder, LOG_FILE)).size <= FIRST_PAGE;
