import type { Database } from 'better-sqlite3';

export type AtOneTime = <T>(reads: () => T) => T;

/**
 * Runs several reads of a connection on one state of the database. Each statement by itself sees what was committed when it
 * began, so that a commit of the writer between two of them reads as damage. In a transaction of the caller they run as they are.
 */
export const atOneTime = (database: Database): AtOneTime => {
  const begin = database.prepare('BEGIN');
  const end = database.prepare('COMMIT');
  return (reads) => {
    if (database.inTransaction) return reads();
    begin.run();
    try {
      return reads();
    } finally {
      end.run();
    }
  };
};
