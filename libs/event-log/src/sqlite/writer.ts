import type { Database, Statement } from 'better-sqlite3';
import { LogCorrupted } from '../event-log';
import { Appender } from './appender';
import { EventTable, rowsAfter } from './event-table';
import { REMOVED } from './event-row';
import { HeadMark } from './head-mark';
import { closeUnless, LOCK_MS, openForWriting } from './log-files';
import { positionText } from './positions';
import { Remover } from './remover';
import { reasonOf, sqliteCode } from './sqlite-errors';
import { StreamHeads } from './stream-heads';
import { StreamIndex } from './stream-index';
import { StreamIndexer } from './stream-indexer';
import type { AppendRequest, RemovalRequest, Reply } from './writer-protocol';

/** Checkpoint when the write-ahead log has this many pages. */
const CHECKPOINT_PAGES = 10_000;
/**
 * The most events, and their bytes, that the index of streams may be behind. Readers of streams keep them in memory.
 */
const UNINDEXED_EVENTS = 4_096;
const UNINDEXED_BYTES = 4 * 1024 * 1024;
/** Resume writing when this many bytes fit on the disk. */
const PROBE_BYTES = 256 * 1024;

/**
 * A commit collects appends for a multiple of the time that its sync will take. On a fast disk, callers continue while
 * the next commit is made; on a slow disk, more appends share a commit.
 */
const APPENDING_PER_SYNC = 4;
const LEAST_APPENDING_MS = 1;

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
    if (head < acknowledged)
      throw new LogCorrupted(
        `position ${positionText(head + 1)}`,
        `the log ends before it, ${positionText(acknowledged)} was acknowledged`,
      );
    const index = new StreamIndex(database);
    const heads = new StreamHeads(index);
    for (const [, stream, revision, , type] of rowsAfter(table, index.upTo(), head))
      heads.moved(stream, { revision, live: type !== REMOVED });
    const indexer = new StreamIndexer(database, heads, index.upTo());
    const appender = new Appender(database, index, indexer, heads, head);
    return new Writer(
      database,
      new HeadMark(folder, head),
      appender,
      indexer,
      new Remover(database, index, indexer, heads),
    );
  });
};

/** The only writing connection. */
export class Writer {
  private unindexedBytes = 0;
  /** Estimated time for a commit to reach the disk. */
  private syncMs = 1;
  private readonly begin: Statement;
  private readonly end: Statement;
  private readonly writtenBack: Statement;

  constructor(
    private readonly database: Database,
    private readonly mark: HeadMark,
    private readonly appender: Appender,
    private readonly indexer: StreamIndexer,
    private readonly remover: Remover,
  ) {
    this.begin = database.prepare('BEGIN IMMEDIATE');
    this.end = database.prepare('COMMIT');
    this.writtenBack = database.prepare('PRAGMA wal_checkpoint(NOOP)');
  }

  /** Position of the last event. */
  get head(): number {
    return this.appender.position;
  }

  /** The last indexed position. */
  get indexed(): number {
    return this.indexer.upTo;
  }

  /** Commits as many appends as it has time for. Returns their answers in order. Throws `CommitFailed`. */
  append(requests: Iterable<AppendRequest>): readonly Reply[] {
    const ends = performance.now() + Math.max(LEAST_APPENDING_MS, this.syncMs * APPENDING_PER_SYNC);
    return this.commit(() => {
      const replies: Reply[] = [];
      for (const request of requests) {
        replies.push(this.appender.append(request));
        this.unindexedBytes += request.bytes;
        if (performance.now() > ends) break;
      }
      return replies;
    });
  }

  /** Removes a part. Returns the answer if nothing is left, otherwise the request for the rest. Throws `CommitFailed`. */
  remove(request: RemovalRequest): Reply | RemovalRequest {
    return this.commit(() => this.remover.step(request, this.head));
  }

  /** Updates the index of streams if it is far behind, or at once. Throws `CommitFailed`. */
  index(atOnce = false): void {
    if (!atOnce && this.head - this.indexed < UNINDEXED_EVENTS && this.unindexedBytes < UNINDEXED_BYTES) return;
    this.commit(() => this.indexer.bringUpTo(this.head));
    this.unindexedBytes = 0;
  }

  /** Checkpoints the write-ahead log if it is long. */
  checkpoint(): void {
    const { log, checkpointed } = this.writtenBack.get() as { log: number; checkpointed: number };
    if (log >= CHECKPOINT_PAGES && checkpointed < log) this.database.pragma('wal_checkpoint(PASSIVE)');
  }

  /** Empties the write-ahead log, so that it holds nothing removed. False where somebody reads older pages, such as a backup: they are not waited for. */
  empty(): boolean {
    this.database.pragma('busy_timeout = 0');
    try {
      const [{ busy }] = this.database.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
      return busy === 0;
    } finally {
      this.database.pragma(`busy_timeout = ${LOCK_MS}`);
    }
  }

  /** Writes and syncs some bytes, then removes them. Throws if the disk cannot. */
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
      this.begin.run();
      const result = work();
      isCommitting = true;
      const started = performance.now();
      this.end.run();
      this.syncMs += (performance.now() - started - this.syncMs) / 8;
      this.mark.write(this.appender.position);
      return result;
    } catch (error) {
      throw new CommitFailed(reasonOf(error), isCommitting && !isUnwritten(error) ? 'unknown' : 'none', {
        cause: error,
      });
    }
  }
}

/** A write that failed before the end of the commit was on its way to the disk: SQLite writes the frames in order, the one that commits last. */
const isUnwritten = (error: unknown): boolean =>
  ['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_BUSY'].includes(sqliteCode(error) ?? '');
