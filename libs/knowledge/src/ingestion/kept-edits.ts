import type { StoredPassage } from '@app/search-index';
import { decodePassages } from '@app/search-index';
import { cutAtDisabled } from './cut-at-disabled';
import type { DocumentWork } from './document-work';

export interface KeptEdits {
  readonly passages: readonly StoredPassage[];
  /** The chunks that are as they were edited. */
  readonly kept: readonly string[];
  /** How many edits were of chunks that the content no longer has, or is cut into otherwise. */
  readonly dropped: number;
}

/** What was served last: its passages, the ids of those that were edited or disabled, and the text that they were cut from. */
export interface Former {
  readonly passages: readonly StoredPassage[];
  readonly edited: ReadonlySet<string>;
  readonly text: string;
}

/**
 * Chunks as people edited them. One that the content still has word for word gets its edit again, first of all where it stands still.
 * Of a disabled one that is cut in pieces now each piece is disabled.
 */
export const withEdits = (chunks: readonly StoredPassage[], former: Former): KeptEdits => {
  const edits = former.passages.filter(({ chunkId }) => former.edited.has(chunkId));
  const byChunk = new Map<string, StoredPassage>();
  const found = new Set<StoredPassage>();
  const keep = (chunk: StoredPassage, edit: StoredPassage): void => {
    byChunk.set(chunk.chunkId, edit);
    found.add(edit);
  };
  const byId = new Map(chunks.map((chunk) => [chunk.chunkId, chunk]));
  for (const edit of edits) {
    const chunk = byId.get(edit.chunkId);
    if (chunk !== undefined) keep(chunk, edit);
  }
  const left = edits.filter((edit) => !found.has(edit));
  if (left.length > 0) {
    const byText = Map.groupBy(
      chunks.filter(({ chunkId }) => !byChunk.has(chunkId)),
      ({ text }) => text,
    );
    for (const edit of left) {
      const chunk = byText.get(former.text.slice(edit.start, edit.end))?.shift();
      if (chunk !== undefined) keep(chunk, edit);
    }
  }
  const untouched = new Set(former.passages.filter(({ enabled }) => enabled).map(spanKey));
  for (const edit of edits)
    if (!edit.enabled)
      for (const piece of piecesOf(edit, chunks, former.text, byChunk))
        if (!untouched.has(spanKey(piece))) keep(piece, edit);
  const passages = chunks.map((chunk): StoredPassage => {
    const edit = byChunk.get(chunk.chunkId);
    if (edit === undefined) return chunk;
    const isWhole = chunk.text === former.text.slice(edit.start, edit.end) || chunk.chunkId === edit.chunkId;
    return {
      ...chunk,
      enabled: edit.enabled,
      ...(edit.edited === true && isWhole ? { text: edit.text, edited: true } : {}),
    };
  });
  return {
    passages,
    kept: chunks.flatMap(({ chunkId }) => (byChunk.has(chunkId) ? [chunkId] : [])),
    dropped: former.edited.size - found.size,
  };
};

const spanKey = ({ start, end }: StoredPassage): string => `${start}-${end}`;

/** Chunks of the same text that lie within an edited one. */
const piecesOf = (
  edit: StoredPassage,
  chunks: readonly StoredPassage[],
  text: string,
  taken: ReadonlyMap<string, StoredPassage>,
): readonly StoredPassage[] =>
  chunks.filter(
    (chunk) =>
      chunk.start >= edit.start &&
      chunk.end <= edit.end &&
      !taken.has(chunk.chunkId) &&
      text.slice(chunk.start, chunk.end) === chunk.text,
  );

/** What a document serves, or served last, where chunks of it were edited or disabled. */
export const formerOf = async (work: DocumentWork): Promise<Former | undefined> => {
  const { indexed, editedChunks } = work.document;
  if (indexed === null || editedChunks.isEmpty()) return undefined;
  const [passages, text] = [await work.read(indexed.passages), await work.read(indexed.text)];
  return {
    passages: passages === undefined ? [] : await decodePassages(passages),
    edited: new Set(editedChunks),
    text: text?.toString() ?? '',
  };
};

/** As `withEdits`, with what the document was edited to before. */
export const keepEdits = async (work: DocumentWork, chunks: readonly StoredPassage[]): Promise<KeptEdits> => {
  const former = await formerOf(work);
  return former === undefined ? { passages: chunks, kept: [], dropped: 0 } : withEdits(chunks, former);
};

/** Chunks of a document, cut where a disabled one begins or ends. */
export const keepDisabled = async <P extends StoredPassage>(
  work: DocumentWork,
  chunks: readonly P[],
): Promise<readonly P[]> => {
  const former = await formerOf(work);
  return former === undefined ? chunks : cutAtDisabled(work.document.documentId, chunks, former);
};
