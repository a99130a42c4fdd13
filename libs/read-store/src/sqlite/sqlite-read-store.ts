import { setImmediate as nextTurn } from 'node:timers/promises';
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { callHere, type Calls, callThread, type Json, startThread, Unavailable } from '@app/kernel/threads';
import {
  type BuildFile,
  type Checkpoint,
  CheckpointMismatch,
  Fenced,
  type FindOptions,
  type ReadStore,
  type RowBatch,
  type StoredRow,
  UniqueViolation,
  type ViewSpec,
} from '../read-store';
import { SharedVersionCounters } from './shared-version-counters';
import { GuardedFiles, loadDriver, openForReading } from './sqlite-file';
import { EntryReader, readLive } from './state-file';
import { allVersionsIn, STATE_FILE, versionFile } from './view-files';
import { ViewReader } from './view-reader';
import { ViewsWriter } from './views-writer';

export interface SqliteReadStoreOptions {
  /** Folder of the view files: `<view>-v<n>.sqlite` and `state.sqlite`; made if missing. */
  readonly folder: string;
  /** Writes in this thread instead of one of its own: for threads that do nothing else, such as a rebuild's. */
  readonly inThread?: boolean;
  /** Told what was lost and how it goes on, one sentence. */
  readonly warn?: (sentence: string) => void;
}

/** Leases and claims are taken anew, limits count anew, and what a build was declared as is not known any more, so that it is replaced. */
const BEGUN_ANEW =
  'views/state.sqlite was damaged or unreadable. It is set aside and replaced. No data is lost: the views are rebuilt from the log and stay available. The Idempotency-Keys of the last day are forgotten: a request repeated under one of them runs again.';

/** Rows read by key without letting others run. */
const MANY = 200;

/**
 * The read store on SQLite: one file per view version, so that filling a new version never waits for the live one. Writing
 * happens in a worker thread, reading in the caller's. A damaged `state.sqlite` is set aside and begun anew: it coordinates, and the truth is the
 * log. Damaged view files are named by `health` and by whoever reads them.
 */
export const openSqliteReadStore = async ({
  folder,
  inThread = false,
  warn = () => undefined,
}: SqliteReadStoreOptions): Promise<ReadStore> => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const place = realpathSync(folder);
  loadDriver();
  const writer = inThread
    ? callHere(new ViewsWriter(place, true))
    : callThread<ViewsWriter>(
        'views',
        () => startThread(__dirname, 'views.thread', __filename, { workerData: { folder: place } }),
        [CheckpointMismatch, Fenced, UniqueViolation, Unavailable, RangeError, TypeError],
      );
  const store = new SqliteReadStore(place, writer);
  try {
    if (inThread) await writer.call('join');
    else if (await writer.call('open')) warn(BEGUN_ANEW);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
};

class SqliteReadStore implements ReadStore {
  /** A page of an index that is changed all over is written once a commit. */
  readonly mostAtOnce = 32_000;
  private readonly counters: SharedVersionCounters;
  private readonly stateFile: string;
  private readonly guarded = new GuardedFiles('views');
  private readonly readers = new Map<string, Map<number, ViewReader>>();
  private stateReader: EntryReader | undefined;
  private pointers: ReadonlyMap<string, number> = new Map();
  private pointersSeen = -1;
  private filesSeen = -1;
  /** The files that there were, and the counter of then: an erasure asks for those of every view. */
  private listed: ReturnType<typeof allVersionsIn> = [];
  private listedAt = -1;

  constructor(
    private readonly folder: string,
    private readonly writer: Calls<ViewsWriter>,
  ) {
    this.counters = new SharedVersionCounters(folder);
    this.stateFile = join(folder, STATE_FILE);
  }

  prepare({ name, version, indexes }: ViewSpec): Promise<void> {
    return this.writer.call('prepare', { name, version, indexes });
  }

  async live(view: string): Promise<number | undefined> {
    return this.liveVersion(view);
  }

  async versions(view: string): Promise<readonly number[]> {
    const files = this.counters.read(this.counters.files);
    if (files !== this.listedAt) this.listed = allVersionsIn(this.folder);
    this.listedAt = files;
    return this.listed.filter(({ name }) => name === view).map(({ version }) => version);
  }

  swap(view: string, from: number | undefined, to: number): Promise<boolean> {
    return this.writer.call('swap', view, from, to);
  }

  async drop(view: string, version: number): Promise<void> {
    this.closeReaders();
    await this.writer.call('drop', view, version);
    this.guarded.forget(versionFile(this.folder, view, version));
  }

  /** What the writer met, or a reader here. */
  async damaged(): Promise<readonly BuildFile[]> {
    const read = this.guarded.files();
    const here =
      read.length === 0
        ? []
        : allVersionsIn(this.folder).filter(({ name, version }) =>
            read.includes(versionFile(this.folder, name, version)),
          );
    return [...here, ...(await this.writer.call('damaged'))];
  }

  async setAside(view: string, version: number): Promise<void> {
    this.closeReaders();
    await this.writer.call('setAside', view, version);
    this.guarded.forget(versionFile(this.folder, view, version));
  }

  async get(view: string, key: string, version?: number): Promise<StoredRow | undefined> {
    return this.read(view, version, (reader) => reader.get(key));
  }

  async getMany(view: string, keys: readonly string[], version?: number): Promise<readonly StoredRow[]> {
    const rows: StoredRow[] = [];
    for (let from = 0; from < keys.length; from += MANY) {
      if (from > 0) await nextTurn();
      for (const row of this.read(view, version, (reader) => reader.getMany(keys.slice(from, from + MANY))))
        rows.push(row);
    }
    return rows;
  }

  async find(view: string, options: FindOptions, version?: number): Promise<readonly StoredRow[]> {
    return this.read(view, version, (reader) => reader.find(options));
  }

  async count(view: string, where?: FindOptions['where'], version?: number): Promise<number> {
    return this.read(view, version, (reader) => reader.count(where));
  }

  async scan(view: string, version: number, afterKey: string | null, limit: number): Promise<readonly StoredRow[]> {
    return this.read(view, version, (reader) => reader.scan(afterKey, limit));
  }

  async checkpoint(view: string, version: number, slice = 0): Promise<Checkpoint | undefined> {
    const reader = this.reader(view, version);
    return reader && this.guarded.run(reader.file, () => reader.checkpoint(slice));
  }

  async viewState(view: string, version: number): Promise<readonly { readonly key: string; readonly value: Json }[]> {
    return this.read(view, version, (reader) => reader.state());
  }

  commit(batch: RowBatch): Promise<void> {
    return this.writer.call('commit', batch);
  }

  async readState(key: string): Promise<Json | undefined> {
    return this.guarded.run(this.stateFile, () => this.state().read(key));
  }

  async listState(
    prefix: string,
    { after = '', limit = 1_000 }: { readonly after?: string; readonly limit?: number } = {},
  ): Promise<readonly { key: string; value: Json }[]> {
    return this.guarded.run(this.stateFile, () => this.state().list(prefix, after, limit));
  }

  writeState(key: string, value: Json | null, options?: { readonly expected: Json | undefined }): Promise<boolean> {
    return this.writer.call('writeState', key, value, options);
  }

  purge(): Promise<void> {
    return this.writer.call('purge');
  }

  async health(): Promise<{ readonly ok: boolean; readonly reason?: string }> {
    const problems = [...new Set([...(await this.writer.call('problems')), ...this.guarded.problems()])];
    return problems.length === 0 ? { ok: true } : { ok: false, reason: problems.join('; ') };
  }

  async close(): Promise<void> {
    this.closeReaders();
    this.stateReader?.close();
    this.stateReader = undefined;
    await this.writer.close();
  }

  private read<T>(view: string, version: number | undefined, work: (reader: ViewReader) => T): T {
    const wanted = version ?? this.liveVersion(view);
    if (wanted === undefined) throw new Unavailable('views', `view ${view} has no live version yet`);
    const reader = this.reader(view, wanted);
    if (reader === undefined) throw new Unavailable('views', `view ${view} v${wanted} is not there`);
    try {
      return work(reader);
    } catch (error) {
      throw this.guarded.explained(reader.file, error);
    }
  }

  private reader(view: string, version: number): ViewReader | undefined {
    const files = this.counters.read(this.counters.files);
    if (files !== this.filesSeen) this.closeReaders();
    this.filesSeen = files;
    return this.readers.get(view)?.get(version) ?? this.openReader(view, version);
  }

  private openReader(view: string, version: number): ViewReader | undefined {
    const file = versionFile(this.folder, view, version);
    if (!existsSync(file)) return undefined;
    const slot = this.counters.rows(view, version);
    const reader = this.guarded.run(file, () => ViewReader.open(file, () => this.counters.read(slot)));
    if (reader === undefined) return undefined;
    const versions = this.readers.get(view) ?? new Map<number, ViewReader>();
    this.readers.set(view, versions.set(version, reader));
    return reader;
  }

  private liveVersion(view: string): number | undefined {
    const seen = this.counters.read(this.counters.pointers);
    if (seen !== this.pointersSeen) {
      this.pointers = this.guarded.run(this.stateFile, () => readLive(this.state().db));
      this.pointersSeen = seen;
    }
    return this.pointers.get(view);
  }

  private state(): EntryReader {
    return (this.stateReader ??= new EntryReader(openForReading(this.stateFile)));
  }

  private closeReaders(): void {
    for (const versions of this.readers.values()) for (const reader of versions.values()) reader.close();
    this.readers.clear();
  }
}
