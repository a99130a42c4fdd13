import type { StoredPassage } from '@app/search-index';
import { decodePassages } from '@app/search-index';
import { cutAtEdits } from './cut-at-edits';
import type { DocumentWriter } from './document-writer';
import { type PreviousContent, type PlacedEdit, placedEdits, spanKey, stayed } from './placed-edits';

export interface KeptEdits {
  readonly passages: readonly StoredPassage[];
  /** The chunks that are as they were edited. */
  readonly kept: readonly string[];
  /** How many edits were of chunks whose text the content has no longer. */
  readonly dropped: number;
}

/** Reads the text that chunks were cut from. */
type ReadText = () => Promise<string>;

/**
 * Chunks of a text with the edits of users: an edit is applied again if the text contains its original text word for
 * word, anywhere. If a disabled chunk is now cut into pieces, each piece is disabled.
 */
export const withEdits = (chunks: readonly StoredPassage[], previous: PreviousContent, text: string): KeptEdits => {
  const placed = placedEdits(previous, text, chunks);
  const byChunk = new Map<string, StoredPassage>();
  const found = new Set<StoredPassage>();
  const keep = (chunk: StoredPassage, edit: StoredPassage): void => {
    byChunk.set(chunk.chunkId, edit);
    found.add(edit);
  };
  const bySpan = new Map(chunks.map((chunk) => [spanKey(chunk), chunk]));
  for (const { edit, ...span } of placed) {
    const chunk = bySpan.get(spanKey(span));
    if (chunk !== undefined) keep(chunk, edit);
  }
  const before = stayed(previous, text, placed);
  for (const each of placed) {
    if (each.edit.enabled || each.edit.edited === true) continue;
    for (const piece of piecesOf(each, chunks))
      if (!byChunk.has(piece.chunkId) && before.get(spanKey(piece))?.enabled !== true) keep(piece, each.edit);
    // Also where nothing but what others say of it is left.
    found.add(each.edit);
  }
  const passages = chunks.map((chunk): StoredPassage => {
    const edit = byChunk.get(chunk.chunkId);
    if (edit === undefined) return chunk;
    return { ...chunk, enabled: edit.enabled, ...(edit.edited === true ? { text: edit.text, edited: true } : {}) };
  });
  return {
    passages,
    kept: chunks.flatMap(({ chunkId }) => (byChunk.has(chunkId) ? [chunkId] : [])),
    dropped: previous.edited.size - found.size,
  };
};

/** Chunks that lie within a disabled one. */
const piecesOf = ({ start, end }: PlacedEdit, chunks: readonly StoredPassage[]): readonly StoredPassage[] =>
  chunks.filter((chunk) => chunk.start >= start && chunk.end <= end);

/** What a document serves, or served last, where chunks of it were edited or disabled. */
const previousOf = async (writer: DocumentWriter): Promise<PreviousContent | undefined> => {
  const { indexed, editedChunks } = writer.document;
  if (indexed === null || editedChunks.isEmpty()) return undefined;
  const [passages, text] = [await writer.read(indexed.passages), await writer.read(indexed.text)];
  return {
    passages: passages === undefined ? [] : await decodePassages(passages),
    edited: new Set(editedChunks),
    text: text?.toString() ?? '',
  };
};

/** As `withEdits`, with what the document was edited to before. */
export const keepEdits = async (
  writer: DocumentWriter,
  chunks: readonly StoredPassage[],
  text: ReadText,
): Promise<KeptEdits> => {
  const previous = await previousOf(writer);
  return previous === undefined
    ? { passages: chunks, kept: [], dropped: 0 }
    : withEdits(chunks, previous, await text());
};

/** Chunks of a document, cut where an edited or disabled one begins or ends. */
export const keepCuts = async <P extends StoredPassage>(
  writer: DocumentWriter,
  chunks: readonly P[],
  text: string,
): Promise<readonly P[]> => {
  const previous = await previousOf(writer);
  return previous === undefined ? chunks : cutAtEdits(writer.document.documentId, chunks, previous, text);
};
