import { basename } from 'node:path';
import { Damaged, Unavailable } from '@app/kernel/threads';
import Database from 'better-sqlite3';
import { isUnreadable, STATE_FILE } from './view-files';

const DAMAGE = /^SQLITE_(CORRUPT|NOTADB|IOERR_SHORT_READ|IOERR_CORRUPTFS)/;
/** What sqlite-vec says where it cannot read what it stored. The code is then that of any error in SQL. */
const UNREADABLE_VECTORS =
  /^(chunks iter error|could not open vectors blob|vectors blob read error|Could not fetch vector data|Error reading 1st vector|Vector dimension mis)/;
const BARRED = /^SQLITE_(CANTOPEN|READONLY|PERM|IOERR)/;
const TROUBLE = /^SQLITE_(FULL|IOERR|CANTOPEN|BUSY|LOCKED|READONLY|PERM)|^E(IO|NOSPC|ROFS|ACCES|NOENT|MFILE|NFILE)$/;

/**
 * Opens a file of a view for writing. What is deleted is overwritten; a process that dies loses nothing (a machine that dies at most the last commits, which the log has).
 * `pageSize`: bytes of a page where the file is new.
 */
export const openForWriting = (file: string, pageSize = 4_096): Database.Database =>
  opened(new Database(file, { timeout: 10_000 }), [
    `page_size = ${pageSize}`,
    'journal_mode = WAL',
    'synchronous = NORMAL',
    'secure_delete = ON',
  ]);

/** Opens a file of a view for reading beside its writer. */
export const openForReading = (file: string): Database.Database =>
  opened(new Database(file, { readonly: true, timeout: 10_000 }), [SMALL_CACHE]);

/**
 * Loads the driver's native code in this thread. To be done before a thread that uses it is started: what a thread loads first is
 * unloaded when that thread ends.
 */
export const loadDriver = (): void => void new Database(':memory:').close();

/** Bounds the page cache of a connection to 2 MiB: a process has some fifty views open, and the operating system caches their files anyway. */
export const SMALL_CACHE = 'cache_size = -2048';

/** The page cache of a connection that a view is built through, 64 MiB: what one large commit changes stays in memory until it is written, once. */
export const LARGE_CACHE = 'cache_size = -65536';

const opened = (db: Database.Database, pragmas: readonly string[]): Database.Database => {
  try {
    for (const pragma of pragmas) db.pragma(pragma);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};

/** Runs work on files. Damage and failed I/O become `Unavailable` with the file and what to do about it; damage is remembered, and so is that a file may not be read. */
export class GuardedFiles {
  private readonly damaged = new Map<string, string>();

  constructor(private readonly dependency: string) {}

  run<T>(file: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.explained(file, error);
    }
  }

  /** The error of work on a file, as its caller should see it. */
  explained(file: string, error: unknown): unknown {
    const { code } = error as { readonly code?: unknown };
    if (typeof code !== 'string') return error;
    if (DAMAGE.test(code) || (code === 'SQLITE_ERROR' && UNREADABLE_VECTORS.test((error as Error).message)))
      return this.damage(file, 'is damaged', error);
    if (BARRED.test(code) && isUnreadable(file)) return this.damage(file, 'cannot be read and written', error);
    if (TROUBLE.test(code))
      return new Unavailable(this.dependency, `${basename(file)} cannot be used: ${(error as Error).message}`, 'none', {
        cause: error,
      });
    return error;
  }

  /** The damage met so far, one sentence for each file. */
  problems(): readonly string[] {
    return [...this.damaged.values()];
  }

  /** The files that it was met in. */
  files(): readonly string[] {
    return [...this.damaged.keys()];
  }

  /** The file was deleted. */
  forget(file: string): void {
    this.damaged.delete(file);
  }

  private damage(file: string, what: string, cause: unknown): Damaged {
    const remedy = basename(file) === STATE_FILE ? 'restart to replace it' : 'delete it to rebuild it from the log';
    const reason = `${basename(file)} ${what}; ${remedy}`;
    this.damaged.set(file, reason);
    return new Damaged(this.dependency, reason, 'none', { cause });
  }
}
