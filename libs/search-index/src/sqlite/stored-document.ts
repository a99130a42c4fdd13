import { placeOf } from '@app/kernel/threads';
import type { IndexedDocument, Passage } from '../search-index';
import type { Statements } from './statements';
import type { Vectors } from './vectors';

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
export const storedDocument = (
  statements: Statements,
  vectors: Pick<Vectors, 'get'>,
  documentId: string,
): IndexedDocument | undefined => {
  const row = statements
    .get(
      'select documents.id, documentId, name, scopes.scope, revision, model from documents join scopes on scopes.id = documents.scope where documentId = ?',
    )
    .get(documentId) as DocumentRow | undefined;
  if (row === undefined) return undefined;
  const { id, model, ...document } = row;
  return {
    ...document,
    tagIds: statements.values('select tagId from tags where document = ? order by tagId', id),
    embeddingModel: model,
    passages: statements
      .rows<PassageRow>(
        'select id, ordinal, chunkId, text, headings, "start", "end", page, slide, sheet, "row", enabled, vectors from passages where document = ? order by ordinal, chunkId',
        id,
      )
      .map((passage) => storedPassage(passage, vectors)),
  };
};

const storedPassage = (
  { id, headings, page, slide, sheet, row, enabled, vectors: model, ...passage }: PassageRow,
  vectors: Pick<Vectors, 'get'>,
): Passage => ({
  ...passage,
  headings: JSON.parse(headings) as string[],
  enabled: enabled === 1,
  ...placeOf({ page, slide, sheet, row }),
  ...(model !== null && { vector: [...vectors.get({ passage: id, model })] }),
});
