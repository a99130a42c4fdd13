import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { type Calls, callThread, type Json, startThread, Unavailable } from '@app/kernel/threads';
import { EntryReader, GuardedFiles, loadDriver, openForReading, STATE_FILE } from '@app/read-store/threads';
import type { CoordinationStore, Entry } from '../coordination-store';
import type { EntriesWriter } from './entries-writer';

export interface SqliteCoordinationStoreOptions {
  /** Folder of `state.sqlite`, which is that of the views; made if missing. */
  readonly folder: string;
}

/**
 * The coordination store on SQLite: the table `state` of `state.sqlite`, beside the views. Writing happens in a worker thread, reading in
 * the caller's. Rejects with `Unavailable` when the file cannot be used: the read store, opened first, replaces a damaged one.
 */
export const openSqliteCoordinationStore = async ({
  folder,
}: SqliteCoordinationStoreOptions): Promise<CoordinationStore> => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const place = realpathSync(folder);
  loadDriver();
  const writer = callThread<EntriesWriter>(
    'coordination',
    () => startThread(__dirname, 'entries.thread', __filename, { workerData: { folder: place } }),
    [Unavailable, RangeError, TypeError],
  );
  const store = new SqliteCoordinationStore(place, writer);
  try {
    await writer.call('open');
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
};

class SqliteCoordinationStore implements CoordinationStore {
  private readonly file: string;
  private readonly guarded = new GuardedFiles('coordination');
  private opened: EntryReader | undefined;

  constructor(
    folder: string,
    private readonly writer: Calls<EntriesWriter>,
  ) {
    this.file = join(folder, STATE_FILE);
  }

  async read(key: string): Promise<Json | undefined> {
    return this.guarded.run(this.file, () => this.reader().read(key));
  }

  async list(
    prefix: string,
    { after = '', limit = 1_000 }: { readonly after?: string; readonly limit?: number } = {},
  ): Promise<readonly Entry[]> {
    return this.guarded.run(this.file, () => this.reader().list(prefix, after, limit));
  }

  write(key: string, value: Json | null, options?: { readonly expected: Json | undefined }): Promise<boolean> {
    return this.writer.call('write', key, value, options);
  }

  async health(): Promise<{ readonly ok: boolean; readonly reason?: string }> {
    const problems = [...new Set([...(await this.writer.call('problems')), ...this.guarded.problems()])];
    return problems.length === 0 ? { ok: true } : { ok: false, reason: problems.join('; ') };
  }

  async close(): Promise<void> {
    this.opened?.close();
    this.opened = undefined;
    await this.writer.close();
  }

  private reader(): EntryReader {
    return (this.opened ??= new EntryReader(openForReading(this.file)));
  }
}
