import { createHash } from 'node:crypto';
import { nameId } from '@app/kernel';
import type { Passage } from '@app/search-index';
import { type EmbeddingParts, embedMetered, type Payer } from '../embed-metered';
import type { ReadDocument } from './read-document';

/** Texts in one call of the embedding model. */
const BATCH = 16;

export interface EmbeddedDocument {
  readonly passages: readonly Passage[];
  readonly embeddingModel: string;
}

/**
 * The passages of a document with their vectors. A passage is embedded with the headings above it, which measured better.
 * Its id follows from document, place and text, so that unchanged passages keep theirs. `progress` hears how many are done.
 */
export const embedChunks = async (
  parts: EmbeddingParts,
  { documentId, payer }: { readonly documentId: string; readonly payer: Payer },
  { text, chunks }: ReadDocument,
  signal: AbortSignal,
  progress: (done: number) => void,
): Promise<EmbeddedDocument> => {
  const embedding = parts.models.embedding();
  const passages: Passage[] = [];
  for (let from = 0; from < chunks.length; from += BATCH) {
    const batch = chunks.slice(from, from + BATCH);
    const texts = batch.map(({ headings, start, end }) =>
      [headings.join(' > '), text.slice(start, end)].filter((part) => part !== '').join('\n'),
    );
    const vectors = await embedMetered(parts, embedding, { payer, holds: true, texts, purpose: 'passage', signal });
    batch.forEach(({ headings, start, end }, index) => {
      const ordinal = from + index;
      const body = text.slice(start, end);
      const vector = vectors[index] as Float32Array;
      passages.push({
        chunkId: chunkId(documentId, ordinal, body),
        ordinal,
        text: body,
        headings,
        start,
        end,
        enabled: true,
        vector,
      });
    });
    progress(passages.length);
  }
  return { passages, embeddingModel: embedding.model.key };
};

const chunkId = (documentId: string, ordinal: number, text: string): string =>
  nameId(documentId, `${ordinal}:${createHash('sha256').update(text).digest('hex')}`);
