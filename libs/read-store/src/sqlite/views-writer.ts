import type { Json } from '@app/kernel';
import type { BuildFile, RowBatch, ViewSpec } from '../read-store';
import { LARGE_CACHE, SMALL_CACHE } from './sqlite-file';
import { writeEntry } from './state-file';
import { VersionedFiles } from './versioned-files';
import { prepareFile, readHead, ViewFile } from './view-file';

/** Changes of a commit behind which its pages are let go of: the next one of the view may be long in coming. */
const MANY = 1_000;

/** All writing to a folder of views, synchronously: in a thread of its own, or in the thread of a rebuild. */
export class ViewsWriter {
  private readonly files: VersionedFiles<ViewFile>;

  constructor(
    folder: string,
    /** Views are built through it: it takes memory for one commit at a time, that of a page cache. */
    private readonly builds = false,
  ) {
    this.files = new VersionedFiles('views', folder, (db) => {
      db.pragma(builds ? LARGE_CACHE : SMALL_CACHE);
      const head = readHead(db);
      return head && new ViewFile(db, head);
    });
  }

  /** Makes `state.sqlite` or finds it usable. True where it was damaged and begun anew. */
  open(): boolean {
    return this.files.openState();
  }

  /** The same for a thread beside the one that opened it: finds it usable. */
  join(): void {
    this.files.onState(() => undefined);
  }

  prepare(view: ViewSpec): void {
    this.files.prepare(view.name, view.version, (db) => prepareFile(db, view));
  }

  commit(batch: RowBatch): void {
    this.files.commit(batch.view, batch.version, (file) => file.commit(batch));
    if (this.builds && batch.changes.length >= MANY)
      this.files.on(batch.view, batch.version, ({ db }) => db.pragma('shrink_memory'));
    this.files.counters.raise(this.files.counters.rows(batch.view, batch.version));
  }

  swap(view: string, from: number | undefined, to: number): boolean {
    return this.files.swap(view, from, to);
  }

  drop(view: string, version: number): void {
    this.files.drop(view, version);
  }

  setAside(view: string, version: number): void {
    this.files.setAside(view, version);
  }

  damaged(): readonly BuildFile[] {
    return this.files.damaged();
  }

  writeState(key: string, value: Json | null, options?: { readonly expected: Json | undefined }): boolean {
    return this.files.onState((db) => writeEntry(db, key, value, options));
  }

  purge(): Promise<void> {
    return this.files.purge();
  }

  problems(): readonly string[] {
    return this.files.problems();
  }

  close(): void {
    this.files.close();
  }
}
