import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { isDamaged, isUnavailable, Unavailable } from '@app/kernel/threads';
import type Database from 'better-sqlite3';
import { SharedVersionCounters } from './shared-version-counters';
import { GuardedFiles, openForWriting } from './sqlite-file';
import { checkState, openStateFile, readLive, swapLive } from './state-file';
import {
  allVersionsIn,
  deleteDatabase,
  deleteSetAside,
  setDatabaseAside,
  STATE_FILE,
  versionFile,
  versionsIn,
} from './view-files';
import { emptyLog, WriteBack } from './write-back';

/** How long a purge waits for those who read or write a file, and how often it looks. */
const TIMEOUT_MS = 30_000;
const LOOK_MS = 10;

type PurgeStep = ReturnType<WriteBack['purge']>;

/** What one file serves, over its connection. Its table `head` has one row, in which `loose` is 1 when content was removed since the last purge. */
interface Opened {
  readonly db: Database.Database;
}

interface OpenFile<File extends Opened> {
  readonly file: File;
  readonly writeBack: WriteBack;
}

/**
 * A folder with one database file per version and `state.sqlite`, which says which version is live. Everything is
 * synchronous and belongs to one thread; another thread may have the same folder open with its own connections.
 */
export class VersionedFiles<File extends Opened> {
  readonly counters: SharedVersionCounters;
  private readonly files = new Map<string, OpenFile<File>>();
  private readonly guarded: GuardedFiles;
  private readonly stateFile: string;
  private stateDb: Database.Database | undefined;
  private filesSeen = 0;

  constructor(
    private readonly dependency: string,
    private readonly folder: string,
    /** Undefined: the file is not made yet. */
    private readonly opened: (db: Database.Database) => File | undefined,
    /** Bytes of a page of new files. */
    private readonly pageSize?: number,
  ) {
    this.counters = new SharedVersionCounters(folder);
    this.guarded = new GuardedFiles(dependency);
    this.stateFile = join(folder, STATE_FILE);
  }

  /**
   * Makes `state.sqlite` or finds it usable. Where it is damaged, or may not be read, it is set aside and begun anew, and the oldest file of
   * each name is live then: it is complete, where a newer one may still be built. True where that was done.
   */
  openState(): boolean {
    try {
      this.onState(checkState);
      return false;
    } catch (error) {
      if (!isDamaged(error)) throw error;
    }
    this.stateDb?.close();
    this.stateDb = undefined;
    this.guarded.run(this.stateFile, () => setDatabaseAside(this.stateFile));
    this.guarded.forget(this.stateFile);
    this.onState((db) => {
      for (const { name, version } of allVersionsIn(this.folder)) swapLive(db, name, undefined, version);
    });
    return true;
  }

  /** Works on `state.sqlite`, which is made at first use. */
  onState<T>(work: (db: Database.Database) => T): T {
    return this.guarded.run(this.stateFile, () => work((this.stateDb ??= openStateFile(this.stateFile))));
  }

  /** Makes a version's file with its tables, or checks the one that is there. */
  prepare(name: string, version: number, make: (db: Database.Database) => void): void {
    const file = versionFile(this.folder, name, version);
    this.guarded.run(file, () => {
      const known = this.file(file);
      if (known !== undefined) return make(known.file.db);
      this.open(file, make);
    });
  }

  /** Works on a version; throws `Unavailable` where it is not there. */
  on<T>(name: string, version: number, work: (file: File) => T): T {
    return this.onOpen(name, version, ({ file }) => work(file));
  }

  /** The same for work that commits. */
  commit(name: string, version: number, work: (file: File) => void): void {
    this.onOpen(name, version, ({ file, writeBack }) => {
      work(file);
      this.harmlessly(file.db.name, () => writeBack.afterCommit());
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
    this.counters.raise(this.counters.pointers);
    return swapped;
  }

  drop(name: string, version: number): void {
    this.take(name, version, deleteDatabase);
  }

  /** Drops a damaged version, but keeps its file beside until the next purge. */
  setAside(name: string, version: number): void {
    this.take(name, version, setDatabaseAside);
  }

  /** Versions that were found damaged, or may not be read, and still stand there. */
  damaged(): readonly { readonly name: string; readonly version: number }[] {
    const files = new Set(this.guarded.files());
    return allVersionsIn(this.folder).filter(({ name, version }) => files.has(versionFile(this.folder, name, version)));
  }

  /**
   * Takes removed content off the disk, at a cost that does not depend on what is kept; only a file that an earlier version wrote is gone
   * through once. Other work gets its turn all along. Throws `Unavailable` where somebody reads or writes one file for too long.
   */
  async purge(): Promise<void> {
    deleteSetAside(this.folder);
    for (const { name, version } of allVersionsIn(this.folder)) {
      const step = (): PurgeStep =>
        this.has(name, version) ? this.onOpen(name, version, ({ writeBack }) => writeBack.purge()) : 'done';
      await this.retry(versionFile(this.folder, name, version), step);
    }
    await this.retry(this.stateFile, () => (this.onState(emptyLog) ? 'done' : 'busy'));
  }

  /** What is wrong with the files, one sentence each. */
  problems(): readonly string[] {
    const checks = allVersionsIn(this.folder).map(
      ({ name, version }) =>
        () =>
          this.has(name, version) && this.on(name, version, ({ db }) => db.prepare('select count(*) from head').get()),
    );
    const unusable = [...checks, () => this.onState(() => undefined)].flatMap(problemOf);
    return [...new Set([...unusable, ...this.guarded.problems()])];
  }

  close(): void {
    for (const [file, { writeBack }] of this.files) this.harmlessly(file, () => writeBack.close());
    this.files.clear();
    this.stateDb?.close();
    this.stateDb = undefined;
  }

  private onOpen<T>(name: string, version: number, work: (open: OpenFile<File>) => T): T {
    const file = versionFile(this.folder, name, version);
    return this.guarded.run(file, () => {
      const found = this.file(file);
      if (found === undefined)
        throw new Unavailable(this.dependency, `${basename(file)} is missing; rebuild it from the log`);
      return work(found);
    });
  }

  private take(name: string, version: number, remove: (file: string) => void): void {
    const file = versionFile(this.folder, name, version);
    remove(file);
    this.files.get(file)?.writeBack.close();
    this.files.delete(file);
    this.guarded.forget(file);
    this.counters.raise(this.counters.files);
  }

  private file(file: string): OpenFile<File> | undefined {
    const seen = this.counters.read(this.counters.files);
    // Another thread dropped a file: what is open here may be a file without a name.
    if (seen !== this.filesSeen) this.closeReplaced();
    this.filesSeen = seen;
    return this.files.get(file) ?? (existsSync(file) ? this.open(file) : undefined);
  }

  private open(file: string, make?: (db: Database.Database) => void): OpenFile<File> | undefined {
    const db = openForWriting(file, this.pageSize);
    let opened: OpenFile<File> | undefined;
    try {
      const isNew = db.prepare('select count(*) from sqlite_schema').pluck().get() === 0;
      if (isNew) this.counters.raise(this.counters.files);
      make?.(db);
      const found = this.opened(db);
      if (found === undefined) return undefined;
      const loose = db.prepare('select loose from head').pluck();
      const writeBack = new WriteBack(db, {
        is: () => loose.get() === 1,
        clear: () => db.exec('update head set loose = 0'),
      });
      if (isNew) writeBack.begin();
      opened = { file: found, writeBack };
      this.files.set(file, opened);
    } finally {
      if (opened === undefined) db.close();
    }
    return opened;
  }

  /** Takes steps until the work is done, others their turn between them. Looks again a moment later where somebody is in the way, for so long. */
  private async retry(file: string, step: () => PurgeStep): Promise<void> {
    let deadline = performance.now() + TIMEOUT_MS;
    for (;;) {
      await nextTurn();
      const outcome = step();
      if (outcome === 'done') return;
      if (outcome === 'more') deadline = performance.now() + TIMEOUT_MS;
      else if (performance.now() > deadline)
        throw new Unavailable(
          this.dependency,
          `${basename(file)} is in use; what was deleted stays on the disk until the next purge`,
        );
      else await pause(LOOK_MS);
    }
  }

  private closeReplaced(): void {
    for (const [file, { writeBack }] of this.files) {
      if (!writeBack.isReplaced()) continue;
      writeBack.close();
      this.files.delete(file);
    }
  }

  /** For what may fail without harm: the write-ahead log keeps what is not written back, for the next time. Damage is remembered. */
  private harmlessly(file: string, work: () => unknown): void {
    try {
      work();
    } catch (error) {
      if (!(this.guarded.explained(file, error) instanceof Unavailable)) throw error;
    }
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
