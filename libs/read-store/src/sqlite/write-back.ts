import { closeSync, fdatasyncSync, fstatSync, openSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import Database from 'better-sqlite3';
import { clearPages, clearWrittenPages, MOST_PAGES, saltsOf } from './page-gaps';

/** Pages of the write-ahead log after which it is written back. */
const LONG = 1_000;
/** Pages of a file that are cleared in one turn: a few milliseconds. */
const SLICE = 1_024;
/** Stands in `user_version`: the gaps of all pages are clear, since the file was made or since all were cleared. Files of 1.5.0 have 0. */
const CLEAR = 1;

interface LogState {
  readonly busy: number;
  /** Frames of the write-ahead log, and how many of them stand in the file. */
  readonly log: number;
  readonly checkpointed: number;
}

const NOTHING = { salts: '', frames: 0 };

/** What a file notes of removals. */
interface Loose {
  /** True when content was removed since the last purge. */
  is(): boolean;
  clear(): void;
}

/**
 * Writes the write-ahead log of a file back into it, in place of SQLite, and leaves nothing in the file that was removed: what SQLite
 * leaves in the gaps of pages is zeroed before the log is used anew. So a removal costs what it removes, however large the file is.
 * SQLite reads nothing from a gap: whoever reads the file meanwhile reads the same rows.
 */
export class WriteBack {
  private readonly state: Database.Statement<[], LogState>;
  private readonly foreignCommits: Database.Statement<[], number>;
  private readonly pageSize: number;
  private readonly logFile: string;
  private readonly inode: number;
  /** Writes back while this connection keeps others from writing. */
  private helper: Database.Database | undefined;
  /**
   * Opened behind the connection and closed behind it: closing a file takes from a process all its locks on it, and these keep other
   * processes that end their work on the file from taking its write-ahead log away.
   */
  private descriptor: number | undefined;
  /** Frames of the log with these salts that are cleared. */
  private cleared = NOTHING;
  /** Where `clearMore` goes on. */
  private nextPage = 1;
  /** The log as the last purge left it. */
  private purged: string | undefined;
  /** What `foreignCommits` said when all was written back last. */
  private seen: number | undefined;

  constructor(
    private readonly db: Database.Database,
    private readonly loose: Loose,
  ) {
    db.pragma('wal_autocheckpoint = 0');
    this.state = db.prepare<[], LogState>('pragma wal_checkpoint(noop)');
    this.foreignCommits = db.prepare<[], number>('pragma data_version').pluck() as Database.Statement<[], number>;
    this.pageSize = db.pragma('page_size', { simple: true }) as number;
    this.logFile = `${db.name}-wal`;
    this.inode = statSync(db.name).ino;
  }

  /** Another file has its name now, or none. */
  isReplaced(): boolean {
    return statSync(this.db.name, { throwIfNoEntry: false })?.ino !== this.inode;
  }

  /** To be said of a file without rows. */
  begin(): void {
    this.db.pragma(`user_version = ${CLEAR}`);
  }

  /** Writes back when the log is long. Called after each commit; waits for nobody. */
  afterCommit(): void {
    const { log, checkpointed } = this.state.get() as LogState;
    if (log >= LONG && (checkpointed < log || !this.isCleared(log))) this.writeBack();
  }

  /** Writes back and clears what was written. False where somebody reads older pages or writes: to be tried again. */
  writeBack(): boolean {
    return this.alone(() => {
      const helper = this.aide();
      const before = stateOf(helper, 'noop');
      // Whoever found the log after a crash begins to write it back anew.
      if (before.checkpointed < this.cleared.frames) this.cleared = NOTHING;
      const { busy, log, checkpointed } = stateOf(helper, 'passive');
      if (busy !== 0 || checkpointed < log) return false;
      if (log > 0) this.clearWritten(log);
      this.seen = this.foreignCommits.get();
      return true;
    });
  }

  /** The next step of taking what was removed off the disk. `busy` where somebody reads or writes: to be tried again in a moment. */
  purge(): 'done' | 'more' | 'busy' {
    // Nothing was written since: most files, where much is erased in many rounds.
    if (this.purged !== undefined && this.purged === this.logMark()) return 'done';
    if (this.loose.is() && !this.isClear()) return this.clearMore() ? 'more' : 'busy';
    if (!this.writeBack()) return 'busy';
    const isEmpty = emptyLog(this.db);
    // What another connection has committed in this moment was perhaps written back as it was.
    if (this.foreignCommits.get() !== this.seen) {
      this.distrust();
      return 'more';
    }
    if (!isEmpty) return 'busy';
    if (!this.loose.is()) return this.endPurge();
    // Pages in memory have gaps as they were, and would bring back what these held. Other connections forget theirs by this commit.
    this.db.pragma('shrink_memory');
    const isNoted = this.alone(() => {
      if (this.foreignCommits.get() !== this.seen) return false;
      this.loose.clear();
      return true;
    });
    return isNoted ? this.endPurge() : 'busy';
  }

  /** Closes the connection too. What could not be written back is found by whoever opens the file next. */
  close(): void {
    try {
      // The last connection that is closed writes back by itself, and clears nothing.
      if (!this.isReplaced() && !this.writeBack()) this.distrust();
    } finally {
      this.helper?.close();
      this.db.close();
      if (this.descriptor !== undefined) closeSync(this.descriptor);
    }
  }

  /** Clears the next pages of a file of which it is not known that all are clear. False where somebody reads or writes. */
  private clearMore(): boolean {
    const pages = this.db.pragma('page_count', { simple: true }) as number;
    if (pages >= MOST_PAGES) this.db.exec('vacuum');
    else if (this.nextPage <= pages) return this.clearSlice();
    else fdatasyncSync(this.file());
    this.begin();
    return true;
  }

  private clearSlice(): boolean {
    if (!this.writeBack()) return false;
    return this.alone(() => {
      // A commit came in between: the log holds newer pages.
      const { log, checkpointed } = stateOf(this.aide(), 'noop');
      if (checkpointed < log) return false;
      clearPages(this.file(), this.pageSize, this.nextPage, SLICE);
      this.nextPage += SLICE;
      return true;
    });
  }

  private clearWritten(frames: number): void {
    const salts = saltsOf(this.logFile) ?? '';
    const from = this.cleared.salts === salts ? this.cleared.frames : 0;
    if (clearWrittenPages(this.file(), this.logFile, this.pageSize, { from, to: frames })) fdatasyncSync(this.file());
    this.cleared = { salts, frames };
  }

  /** Remembers the log as it is, unless another connection has written in this moment. */
  private endPurge(): 'done' {
    const mark = this.logMark();
    this.purged = this.foreignCommits.get() === this.seen ? mark : undefined;
    return 'done';
  }

  /** Changes with every commit: a log grows, or is begun anew with other salts. */
  private logMark(): string {
    const size = statSync(this.logFile, { throwIfNoEntry: false })?.size ?? 0;
    return size === 0 ? '' : `${size} ${saltsOf(this.logFile)}`;
  }

  private isCleared(frames: number): boolean {
    return this.cleared.frames >= frames && this.cleared.salts === saltsOf(this.logFile);
  }

  private isClear(): boolean {
    return this.db.pragma('user_version', { simple: true }) === CLEAR;
  }

  private distrust(): void {
    this.db.pragma('user_version = 0');
    this.nextPage = 1;
  }

  /** Runs work in a transaction while nobody else writes; false where somebody does, or where the work says so, which then has done nothing. */
  private alone(work: () => boolean): boolean {
    try {
      withoutWaiting(this.db, () => this.db.exec('begin immediate'));
    } catch (error) {
      if (!String((error as { readonly code?: unknown }).code).startsWith('SQLITE_BUSY')) throw error;
      return false;
    }
    let done = false;
    try {
      done = work();
    } finally {
      this.db.exec(done ? 'commit' : 'rollback');
    }
    return done;
  }

  private aide(): Database.Database {
    return (this.helper ??= new Database(this.db.name, { fileMustExist: true }));
  }

  private file(): number {
    this.descriptor ??= openSync(this.db.name, 'r+');
    if (fstatSync(this.descriptor).ino !== this.inode)
      throw new Error(`${basename(this.db.name)} was replaced while it was open`);
    return this.descriptor;
  }
}

/** Empties a write-ahead log, which holds older pages, with everything in it written back as it is. False where somebody reads or writes: they are not waited for. */
export const emptyLog = (db: Database.Database): boolean =>
  withoutWaiting(db, () => stateOf(db, 'truncate').busy === 0);

const stateOf = (db: Database.Database, mode: 'noop' | 'passive' | 'truncate'): LogState =>
  (db.pragma(`wal_checkpoint(${mode})`) as [LogState])[0];

const withoutWaiting = <T>(db: Database.Database, work: () => T): T => {
  const usual = db.pragma('busy_timeout', { simple: true }) as number;
  db.pragma('busy_timeout = 0');
  try {
    return work();
  } finally {
    db.pragma(`busy_timeout = ${usual}`);
  }
};
