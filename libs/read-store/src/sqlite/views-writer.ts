import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isUnavailable, type Json, Unavailable } from '@app/kernel';
import type Database from 'better-sqlite3';
import type { RowBatch, ViewSpec } from '../read-store';
import { ChangeBoard } from './change-board';
import { GuardedFiles, openForWriting } from './sqlite-file';
import { prepareState, swapLive, writeEntry } from './state-file';
import { prepareFile, readHead, ViewFile } from './view-file';
import { allVersionsIn, deleteDatabase, versionFile } from './view-files';

/** All writing to a folder of views, synchronously: in a thread of its own, or in the thread of a rebuild. */
export class ViewsWriter {
  private readonly files = new Map<string, ViewFile>();
  private readonly stateFile: string;
  private stateDb: Database.Database | undefined;
  private readonly board: ChangeBoard;
  private readonly guarded = new GuardedFiles();
  private filesSeen = 0;

  constructor(private readonly folder: string) {
    this.board = new ChangeBoard(folder);
    this.stateFile = join(folder, 'state.sqlite');
  }

  /** Makes `state.sqlite` or finds it usable. */
  open(): void {
    this.guarded.run(this.stateFile, () => this.state());
  }

  prepare(view: ViewSpec): void {
    const file = versionFile(this.folder, view.name, view.version);
    this.guarded.run(file, () => {
      const db = openForWriting(file);
      try {
        prepareFile(db, view);
      } finally {
        db.close();
      }
    });
  }

  commit(batch: RowBatch): void {
    const file = versionFile(this.folder, batch.view, batch.version);
    this.guarded.run(file, () => this.file(file).commit(batch));
    this.board.raise(this.board.rows(batch.view, batch.version));
  }

  swap(view: string, from: number | undefined, to: number): boolean {
    const swapped = this.guarded.run(this.stateFile, () => swapLive(this.state(), view, from, to));
    this.board.raise(this.board.pointers);
    return swapped;
  }

  drop(view: string, version: number): void {
    const file = versionFile(this.folder, view, version);
    this.files.get(file)?.db.close();
    this.files.delete(file);
    deleteDatabase(file);
    this.guarded.forget(file);
    this.board.raise(this.board.files);
  }

  writeState(key: string, value: Json | null, options?: { readonly expected: Json | undefined }): boolean {
    return this.guarded.run(this.stateFile, () => writeEntry(this.state(), key, value, options));
  }

  /** Empties the write-ahead logs into the files; what was deleted in them is overwritten already (`secure_delete`). */
  purge(): void {
    for (const file of this.viewFiles()) this.truncateLog(file, () => this.file(file).db);
    this.truncateLog(this.stateFile, () => this.state());
  }

  /** What is wrong with the files, one sentence each. */
  problems(): readonly string[] {
    const unusable = [
      ...this.viewFiles().flatMap((file) => problemOf(() => this.guarded.run(file, () => readHead(this.file(file).db)))),
      ...problemOf(() => this.open()),
    ];
    return [...new Set([...unusable, ...this.guarded.problems()])];
  }

  close(): void {
    this.closeFiles();
    this.stateDb?.close();
    this.stateDb = undefined;
  }

  private state(): Database.Database {
    if (this.stateDb !== undefined) return this.stateDb;
    const db = openForWriting(this.stateFile);
    prepareState(db);
    return (this.stateDb = db);
  }

  private viewFiles(): readonly string[] {
    return allVersionsIn(this.folder).map(({ name, version }) => versionFile(this.folder, name, version));
  }

  private truncateLog(file: string, database: () => Database.Database): void {
    const [result] = this.guarded.run(file, () => database().pragma('wal_checkpoint(TRUNCATE)')) as [{ busy: number }];
    if (result.busy !== 0) throw new Unavailable('views', `${basename(file)} is in use; what was deleted stays in its write-ahead log until the next purge`);
  }

  private file(file: string): ViewFile {
    const files = this.board.read(this.board.files);
    // Another thread dropped a file: what is open here may be a file without a name.
    if (files !== this.filesSeen) this.closeFiles();
    this.filesSeen = files;
    const known = this.files.get(file);
    if (known !== undefined) return known;
    if (!existsSync(file)) throw new Unavailable('views', `${basename(file)} is missing; prepare the view and fill it again`);
    const db = openForWriting(file);
    const head = headOrClose(db);
    if (head === undefined) throw new Unavailable('views', `${basename(file)} is not made yet`);
    const opened = new ViewFile(db, head);
    this.files.set(file, opened);
    return opened;
  }

  private closeFiles(): void {
    for (const { db } of this.files.values()) db.close();
    this.files.clear();
  }
}

const headOrClose = (db: Database.Database): ReturnType<typeof readHead> => {
  let head;
  try {
    return (head = readHead(db));
  } finally {
    if (head === undefined) db.close();
  }
};

const problemOf = (check: () => unknown): readonly string[] => {
  try {
    check();
    return [];
  } catch (error) {
    if (isUnavailable(error)) return [error.reason];
    throw error;
  }
};
