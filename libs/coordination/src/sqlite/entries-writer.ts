import { join } from 'node:path';
import type { Json } from '@app/kernel';
import { GuardedFiles, openStateFile, STATE_FILE, writeEntry } from '@app/read-store/threads';
import type Database from 'better-sqlite3';

/** All writing to the entries, synchronously, in a thread of its own: each write waits for the disk. */
export class EntriesWriter {
  private readonly file: string;
  private readonly guarded = new GuardedFiles('coordination');
  private db: Database.Database | undefined;

  constructor(folder: string) {
    this.file = join(folder, STATE_FILE);
  }

  /** Makes `state.sqlite` or finds it usable. */
  open(): void {
    this.guarded.run(this.file, () => this.opened());
  }

  write(key: string, value: Json | null, options?: { readonly expected: Json | undefined }): boolean {
    return this.guarded.run(this.file, () => writeEntry(this.opened(), key, value, options));
  }

  problems(): readonly string[] {
    return this.guarded.problems();
  }

  close(): void {
    this.db?.close();
    this.db = undefined;
  }

  private opened(): Database.Database {
    return (this.db ??= openStateFile(this.file));
  }
}
