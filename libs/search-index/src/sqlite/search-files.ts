import { mkdirSync, realpathSync } from 'node:fs';
import { Unavailable } from '@app/kernel/threads';
import {
  type BuildFile,
  type Checkpoint,
  CheckpointMismatch,
  Fenced,
  readSlicePlace,
  VersionedFiles,
  writeSlicePlace,
} from '@app/read-store/threads';
import type Database from 'better-sqlite3';
import { documentDigest, type Scope, type SearchBatch, type SearchHit, type SearchQuery } from '../search-index';
import { addPlaces, prepareIndex, readIndexHead, vectorsOf, withVectors } from './index-file';
import { IndexReader } from './index-reader';
import { IndexWriter } from './index-writer';
import { layoutOf } from './layout';
import { Statements } from './statements';
import { storedDocument } from './stored-document';

interface IndexFile {
  readonly db: Database.Database;
  readonly reader: IndexReader;
  readonly writer: IndexWriter;
}

/** Two vectors of 512 dimensions do not fit into a page of 4,096 bytes: each would take twice its size. */
const PAGE_SIZE = 8_192;

/** A folder of search indexes, one file per version, synchronously: in a thread of its own, or in the thread of a rebuild. */
export class SearchFiles {
  private readonly files: VersionedFiles<IndexFile>;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.files = new VersionedFiles(
      'search',
      realpathSync(folder),
      (db) => {
        if (readIndexHead(db) === undefined) return undefined;
        addPlaces(db);
        return { db: withVectors(db), reader: new IndexReader(db), writer: new IndexWriter(db) };
      },
      PAGE_SIZE,
    );
  }

  /** Makes `state.sqlite` or finds it usable. True where it was damaged and begun anew. */
  open(): boolean {
    return this.files.openState();
  }

  /** The same for a thread beside the one that opened it: finds it usable. */
  join(): void {
    this.files.onState(() => undefined);
  }

  prepare(index: string, version: number): void {
    this.files.prepare(index, version, prepareIndex);
  }

  live(index: string): number | undefined {
    return this.files.live(index);
  }

  versions(index: string): readonly number[] {
    return this.files.versions(index);
  }

  swap(index: string, from: number | undefined, to: number): boolean {
    return this.files.swap(index, from, to);
  }

  drop(index: string, version: number): void {
    this.files.drop(index, version);
  }

  setAside(index: string, version: number): void {
    this.files.setAside(index, version);
  }

  damaged(): readonly BuildFile[] {
    return this.files.damaged();
  }

  checkpoint(index: string, version: number, slice = 0): Checkpoint | undefined {
    if (!this.files.has(index, version)) return undefined;
    return this.files.on(index, version, ({ db }) => {
      const head = readIndexHead(db);
      const { position, handled } = (slice === 0 ? head : undefined) ?? readSlicePlace(db, slice);
      return head && { position, handled };
    });
  }

  apply(batch: SearchBatch): void {
    this.files.commit(batch.index, batch.version, (file) => file.db.transaction(() => write(file, batch)).immediate());
  }

  search(index: string, query: SearchQuery): readonly SearchHit[] {
    return this.files.on(index, this.served(index), ({ db, reader }) => db.transaction(() => reader.search(query))());
  }

  scopesWith(index: string, query: Pick<SearchQuery, 'scopes' | 'text'>): readonly Scope[] {
    return this.files.on(index, this.served(index), ({ db, reader }) =>
      db.transaction(() => reader.scopesWith(query))(),
    );
  }

  prefetch(index: string, query: SearchQuery): void {
    this.files.on(index, this.served(index), ({ db, reader }) => db.transaction(() => reader.prefetch(query))());
  }

  revisionOf(index: string, documentId: string): number | undefined {
    return this.files.on(index, this.served(index), ({ reader }) => reader.revisionOf(documentId));
  }

  count(index: string, version: number): { readonly documents: number; readonly passages: number } {
    return this.files.on(index, version, ({ db, reader }) => db.transaction(() => reader.count())());
  }

  scan(
    index: string,
    version: number,
    afterId: string | null,
    limit: number,
  ): readonly { readonly documentId: string; readonly digest: string }[] {
    return this.files.on(index, version, ({ db }) => db.transaction(() => digests(db, afterId, limit))());
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

  private served(index: string): number {
    const version = this.files.live(index);
    if (version === undefined) throw new Unavailable('search', `index ${index} has no live version yet`);
    return version;
  }
}

/** What is stored of documents stands in several tables: read in one transaction, since a rebuild may write the file from another thread. */
const digests = (
  db: Database.Database,
  afterId: string | null,
  limit: number,
): readonly { readonly documentId: string; readonly digest: string }[] => {
  const ids = db
    .prepare('select documentId from documents where documentId > ? order by documentId limit ?')
    .pluck()
    .all(afterId ?? '', limit) as string[];
  const statements = new Statements(db);
  const vectors = vectorsOf(statements, layoutOf(db));
  return ids.flatMap((documentId) => {
    const document = storedDocument(statements, vectors, documentId);
    return document === undefined ? [] : [{ documentId, digest: documentDigest(document) }];
  });
};

const write = (
  { db, writer }: IndexFile,
  { index, version, slice = 0, changes, from, to, fence }: SearchBatch,
): void => {
  const place = slice === 0 ? readIndexHead(db) : readSlicePlace(db, slice);
  if (place === undefined || fence < place.fence)
    throw new Fenced(`index ${index} v${version} has a newer writer: fence ${place?.fence}, not ${fence}`);
  if (from !== place.position)
    throw new CheckpointMismatch(
      `index ${index} v${version} is at ${place.position ?? 'the start'}, not at ${from ?? 'the start'}`,
    );
  writer.apply(changes.flatMap(({ operations }) => operations));
  if (slice === 0)
    db.prepare('update head set position = ?, handled = ?, fence = ?').run(to.position, to.handled, fence);
  else writeSlicePlace(db, slice, to, fence);
};
