import type { Database, Statement } from 'better-sqlite3';
import type { StreamHeads } from './stream-heads';

/** Brings the index of streams up to the log: the entries of a lot are sorted, so that each page is written once. */
export class StreamIndexer {
  private readonly insert: Statement<[number, number]>;
  private readonly note: Statement<[number]>;

  constructor(
    database: Database,
    private readonly heads: StreamHeads,
    public upTo: number,
  ) {
    this.insert = database.prepare(
      'INSERT INTO places SELECT stream, revision, position FROM events WHERE position > ? AND position <= ? ORDER BY stream, revision',
    );
    this.note = database.prepare('UPDATE indexed SET up_to = ?');
  }

  /** Runs in the transaction of its caller. */
  bringUpTo(position: number): void {
    if (position === this.upTo) return;
    this.insert.run(this.upTo, position);
    this.note.run(position);
    this.upTo = position;
    this.heads.allIndexed();
  }
}
