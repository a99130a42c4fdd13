import { placeOf } from '@app/kernel';
import type Database from 'better-sqlite3';
import type { IndexedDocument, Passage } from '../search-index';
import { vectorTable } from './index-file';

interface DocumentRow {
  readonly id: number;
  readonly documentId: string;
  readonly name: string;
  readonly scope: string;
  readonly revision: number;
  readonly model: string | null;
}

interface PassageRow {
  readonly id: number;
  readonly ordinal: number;
  readonly chunkId: string;
  readonly text: string;
  readonly headings: string;
  readonly start: number;
  readonly end: number;
  readonly page: number | null;
  readonly slide: number | null;
  readonly sheet: string | null;
  readonly row: number | null;
  readonly enabled: number;
  readonly vectors: number | null;
}

/** A document as the index holds it, read back from its tables. */
export const storedDocument = (db: Database.Database, documentId: string): IndexedDocument | undefined => {
  const row = db
    .prepare(
      'select documents.id, documentId, name, scopes.scope, revision, model from documents join scopes on scopes.id = documents.scope where documentId = ?',
    )
    .get(documentId) as DocumentRow | undefined;
  if (row === undefined) return undefined;
  const { id, model, ...document } = row;
  const tagIds = db.prepare('select tagId from tags where document = ? order by tagId').pluck().all(id) as string[];
  const passages = db
    .prepare(
      'select id, ordinal, chunkId, text, headings, "start", "end", page, slide, sheet, "row", enabled, vectors from passages where document = ? order by ordinal, chunkId',
    )
    .all(id) as PassageRow[];
  return {
    ...document,
    tagIds,
    embeddingModel: model,
    passages: passages.map((passage) => storedPassage(db, passage)),
  };
};

const storedPassage = (
  db: Database.Database,
  { id, headings, page, slide, sheet, row, enabled, vectors, ...passage }: PassageRow,
): Passage => ({
  ...passage,
  headings: JSON.parse(headings) as string[],
  enabled: enabled === 1,
  ...placeOf({ page, slide, sheet, row }),
  ...(vectors !== null && { vector: storedVector(db, vectors, id) }),
});

const storedVector = (db: Database.Database, model: number, id: number): readonly number[] => {
  const bytes = db
    .prepare(`select embedding from ${vectorTable(model)} where rowid = ?`)
    .pluck()
    .get(BigInt(id)) as Buffer;
  return [...new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))];
};
