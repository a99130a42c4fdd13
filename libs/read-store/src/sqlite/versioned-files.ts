import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isUnavailable, Unavailable } from '@app/kernel';
import type Database from 'better-sqlite3';
import { ChangeBoard } from './change-board';
import { GuardedFiles, openForWriting } from './sqlite-file';
import { prepareState, readLive, swapLive } from './state-file';
import { allVersionsIn, deleteDatabase, versionFile, versionsIn } from './view-files';

/** What one file serves, over its connection. Its table `head` has one row, in which `loose` is 1 when content was removed since the last purge. */
interface Opened {
  readonly db: Database.Database;
}

/**
 * A folder with one database file per version and `state.sqlite`, which says which version is live. Everything is
 * synchronous and belongs to one thread; another thread may have the same folder open with its own connections.
 */
export class VersionedFiles<File extends Opened> {
  readonly board: ChangeBoard;
  private readonly files = new Map<string, File>();
  private readonly guarded: GuardedFiles;
  private readonly stateFile: string;
  private stateDb: Database.Database | undefined;
  private filesSeen = 0;

  constructor(
    private readonly dependency: string,
    private readonly folder: string,
    /** Undefined: the file is not made yet. */
    private readonly opened: (db: Database.Database) => File | undefined,
  ) {
    this.board = new ChangeBoard(folder);
    this.guarded = new GuardedFiles(dependency);
    this.stateFile = join(folder, 'state.sqlite');
  }

  /** Works on `state.sqlite`, which is made at first use. */
  onState<T>(work: (db: Database.Database) => T): T {
    return this.guarded.run(this.stateFile, () => work(this.state()));
  }

  /** Makes a version's file with its tables, or checks the one that is there. */
  prepare(name: string, version: number, make: (db: Database.Database) => void): void {
    const file = versionFile(this.folder, name, version);
    this.guarded.run(file, () => {
      const known = this.file(file);
      if (known !== undefined) return make(known.db);
      this.open(file, make);
    });
  }

  /** Works on a version; throws `Unavailable` where it is not there. */
  on<T>(name: string, version: number, work: (file: File) => T): T {
    const file = versionFile(this.folder, name, version);
    return this.guarded.run(file, () => {
      const found = this.file(file);
      if (found === undefined) throw new Unavailable(this.dependency, `${basename(file)} is missing; prepare it and fill it from the log`);
      return work(found);
    });
  }

  /** True when a version was prepared. */
  has(name: string, version: number): boolean {
    const file = versionFile(this.folder, name, version);
    return this.guarded.run(file, () => this.file(file) !== undefined);
  }

  live(name: string): number | undefined {
    return this.onState((db) => readLive(db).get(name));
  }

  versions(name: string): readonly number[] {
    return versionsIn(this.folder, name);
  }

  swap(name: string, from: number | undefined, to: number): boolean {
    const swapped = this.onState((db) => swapLive(db, name, from, to));
    this.board.raise(this.board.pointers);
    return swapped;
  }

  drop(name: string, version: number): void {
    const file = versionFile(this.folder, name, version);
    this.files.get(file)?.db.close();
    this.files.delete(file);
    deleteDatabase(file);
    this.guarded.forget(file);
    this.board.raise(this.board.files);
  }

  /**
   * Takes removed content off the disk. `secure_delete` overwrites what is deleted, but not the copies that SQLite leaves in the
   * gaps of pages it has divided (found by test), so files that lost content since the last purge are written anew.
   */
  purge(): void {
    for (const { name, version } of allVersionsIn(this.folder)) {
      if (!this.has(name, version)) continue;
      this.on(name, version, ({ db }) => {
        if (db.prepare('select loose from head').pluck().get() === 1) {
          db.exec('vacuum');
          db.exec('update head set loose = 0');
        }
        this.truncateLog(db);
      });
    }
    this.onState((db) => this.truncateLog(db));
  }

  /** What is wrong with the files, one sentence each. */
  problems(): readonly string[] {
    const checks = allVersionsIn(this.folder).map(({ name, version }) => () => this.has(name, version) && this.on(name, version, ({ db }) => db.prepare('select count(*) from head').get()));
    const unusable = [...checks, () => this.onState(() => undefined)].flatMap(problemOf);
    return [...new Set([...unusable, ...this.guarded.problems()])];
  }

  close(): void {
    this.closeFiles();
    this.stateDb?.close();
    this.stateDb = undefined;
  }

  private file(file: string): File | undefined {
    const seen = this.board.read(this.board.files);
    // Another thread dropped a file: what is open here may be a file without a name.
    if (seen !== this.filesSeen) this.closeFiles();
    this.filesSeen = seen;
    return this.files.get(file) ?? (existsSync(file) ? this.open(file) : undefined);
  }

  private open(file: string, make?: (db: Database.Database) => void): File | undefined {
    const db = openForWriting(file);
    let opened: File | undefined;
    try {
      make?.(db);
      opened = this.opened(db);
    } finally {
      if (opened === undefined) db.close();
      else this.files.set(file, opened);
    }
    return opened;
  }

  private state(): Database.Database {
    if (this.stateDb !== undefined) return this.stateDb;
    const db = openForWriting(this.stateFile);
    // Unlike views, this state cannot be made again from the log: a machine that dies must not forget it.
    db.pragma('synchronous = FULL');
    prepareState(db);
    return (this.stateDb = db);
  }

  private truncateLog(db: Database.Database): void {
    const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as [{ readonly busy: number }];
    if (result.busy !== 0) throw new Unavailable(this.dependency, `${basename(db.name)} is in use; what was deleted stays in its write-ahead log until the next purge`);
  }

  private closeFiles(): void {
    for (const { db } of this.files.values()) db.close();
    this.files.clear();
  }
}

const problemOf = (check: () => unknown): readonly string[] => {
  try {
    check();
    return [];
  } catch (error) {
    if (isUnavailable(error)) return [error.reason];
    throw error;
  }
};
