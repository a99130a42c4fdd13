import { chunksOf, type Chunk } from './chunk';
import { extractText } from './extract-text';
import { IngestionFailure } from './ingestion-failure';

/** More would make a document that one search result cannot be found in, and blobs that no process can hold. */
const MAX_CHUNKS = 20_000;

export interface ReadDocument {
  readonly text: string;
  readonly chunks: readonly Chunk[];
  /** How long the two steps took. */
  readonly milliseconds: { readonly parse: number; readonly chunk: number };
}

/** The steps parse and chunk. Throws `IngestionFailure`. */
export const readDocument = (body: Buffer, mimeType: string): ReadDocument => {
  const begun = performance.now();
  const { text, kind } = extractText(body, mimeType);
  const parsed = performance.now();
  const chunks = chunksOf(text, kind);
  if (chunks.length === 0) throw new IngestionFailure('empty_document');
  if (chunks.length > MAX_CHUNKS) throw new IngestionFailure('too_many_passages');
  return { text, chunks, milliseconds: { parse: Math.round(parsed - begun), chunk: Math.round(performance.now() - parsed) } };
};
