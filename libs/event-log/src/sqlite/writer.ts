import type { Database } from 'better-sqlite3';
import { LogCorrupted } from '../event-log';
import { Appender } from './appender';
import { EventTable } from './event-table';
import { HeadMark } from './head-mark';
import { closeUnless, openForWriting } from './log-files';
import { positionText } from './positions';
import { Remover } from './remover';
import { reasonOf, sqliteCode } from './sqlite-errors';
import type { AppendRequest, RemovalRequest, Reply } from './writer-protocol';

/** Pages of the write-ahead log after which it is written back into the database. */
const CHECKPOINT_PAGES = 10_000;
/** What must fit on the disk before writing is called possible again. */
const PROBE_BYTES = 256 * 1024;

/** A commit that failed; nothing of it is acknowledged. After it this writer must be closed: a failed sync is never retried on the same handle. */
export class CommitFailed extends Error {
  override readonly name = 'CommitFailed';

  constructor(
    readonly reason: string,
    readonly outcome: 'none' | 'unknown',
    options: ErrorOptions,
  ) {
    super(reason, options);
  }
}

/** Opens the one writing connection. Throws `LogCorrupted` when the log ends before `acknowledged`, what this process has acknowledged. */
export const openWriter = (folder: string, acknowledged: number): Writer => {
  const database = openForWriting(folder);
  return closeUnless(database, () => {
    const table = new EventTable(database);
    const head = table.lastPosition();
    if (head < acknowledged) throw new LogCorrupted(`position ${positionText(head + 1)}`, `the log ends before it, ${positionText(acknowledged)} was acknowledged`);
    return new Writer(database, new HeadMark(folder, head), new Appender(database, table, head), table);
  });
};

export class Writer {
  private readonly remover: Remover;

  constructor(
    private readonly database: Database,
    private readonly mark: HeadMark,
    private readonly appender: Appender,
    table: EventTable,
  ) {
    this.remover = new Remover(database, table, appender.heads);
  }

  /** Position of the last event. */
  get head(): number {
    return this.appender.position;
  }

  /** One commit for all. Throws `CommitFailed`. */
  append(requests: readonly AppendRequest[]): readonly Reply[] {
    return this.commit(() => requests.map((request) => this.appender.append(request)));
  }

  /** Removes a part; the answer when nothing is left, or the request for the rest. Throws `CommitFailed`. */
  remove(request: RemovalRequest): Reply | RemovalRequest {
    return this.commit(() => this.remover.step(request));
  }

  /** Writes the write-ahead log back when it is long; `purge` also empties it, so that it holds nothing removed. */
  checkpoint(purge = false): void {
    const [state] = this.database.pragma('wal_checkpoint(NOOP)') as { log: number; checkpointed: number }[];
    if (purge) this.database.pragma('wal_checkpoint(TRUNCATE)');
    else if (state !== undefined && state.log >= CHECKPOINT_PAGES && state.checkpointed < state.log) this.database.pragma('wal_checkpoint(PASSIVE)');
  }

  /** Writes and syncs something of a size, and takes it out again. Throws when the disk cannot. */
  probe(): void {
    this.commit(() => this.database.prepare('INSERT INTO probe (filler) VALUES (zeroblob(?))').run(PROBE_BYTES));
    this.commit(() => this.database.prepare('DELETE FROM probe').run());
  }

  close(): void {
    this.mark.close();
    this.database.close();
  }

  private commit<T>(work: () => T): T {
    let isCommitting = false;
    try {
      this.database.exec('BEGIN IMMEDIATE');
      const result = work();
      isCommitting = true;
      this.database.exec('COMMIT');
      this.mark.write(this.appender.position);
      return result;
    } catch (error) {
      throw new CommitFailed(reasonOf(error), isCommitting && !isUnwritten(error) ? 'unknown' : 'none', { cause: error });
    }
  }
}

/** A write that failed before the end of the commit was on its way to the disk: SQLite writes the frames in order, the one that commits last. */
const isUnwritten = (error: unknown): boolean => ['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_BUSY'].includes(sqliteCode(error) ?? '');
