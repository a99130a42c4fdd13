import type { StoredPassage } from '@app/search-index';
import { decodePassages } from '@app/search-index';
import type { DocumentWork } from './document-work';

export interface KeptEdits {
  readonly passages: readonly StoredPassage[];
  /** The chunks that are as they were edited. */
  readonly kept: readonly string[];
  /** How many edits were of chunks that the content no longer has. */
  readonly dropped: number;
}

/**
 * Chunks as people edited them: one that the content still has, at its place and word for word, gets its edit again. `before` are the
 * passages that were served last, `edited` the ids of those that were edited or disabled.
 */
export const withEdits = (
  chunks: readonly StoredPassage[],
  before: readonly StoredPassage[],
  edited: ReadonlySet<string>,
): KeptEdits => {
  const edits = new Map(
    before.filter(({ chunkId }) => edited.has(chunkId)).map((passage) => [passage.chunkId, passage]),
  );
  const kept: string[] = [];
  const passages = chunks.map((chunk): StoredPassage => {
    const edit = edits.get(chunk.chunkId);
    if (edit === undefined) return chunk;
    kept.push(chunk.chunkId);
    return {
      ...chunk,
      enabled: edit.enabled,
      ...(edit.edited === true ? { text: edit.text, edited: true } : {}),
    };
  });
  return { passages, kept, dropped: edited.size - kept.length };
};

/** As `withEdits`, with what the document was edited to before. */
export const keepEdits = async (work: DocumentWork, chunks: readonly StoredPassage[]): Promise<KeptEdits> => {
  const { indexed, editedChunks } = work.document;
  if (indexed === null || editedChunks.isEmpty()) return { passages: chunks, kept: [], dropped: 0 };
  const body = await work.read(indexed.passages);
  return withEdits(chunks, body === undefined ? [] : await decodePassages(body), new Set(editedChunks));
};
