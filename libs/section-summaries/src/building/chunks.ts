import { createHash } from 'node:crypto';
import type { Blobs } from '@app/blobs';
import { nameId, streamOf } from '@app/kernel';
import { decodePassages } from '@app/search-index';
import type { SourceDocument } from '../lookups';

/** A leaf of the hierarchy. */
export interface Chunk {
  /** Follows from its document and its text with its headings: the same as long as they are. */
  readonly key: string;
  readonly chunkId: string;
  readonly documentId: string;
  readonly title: string;
  readonly headings: readonly string[];
  readonly text: string;
  /** Of length one; undefined where the document was not embedded. */
  readonly vector: Float32Array | undefined;
}

/** The chunks of a document that are searched, in the order of its text; undefined where they are gone: it is ingested again, or deleted. */
export const chunksOf = async (
  blobs: Pick<Blobs, 'get'>,
  { documentId, name: title, passages }: Pick<SourceDocument, 'documentId' | 'name' | 'passages'>,
): Promise<readonly Chunk[] | undefined> => {
  const body = await blobs.get(streamOf('document', documentId), passages);
  if (body === undefined) return undefined;
  return (await decodePassages(body))
    .filter(({ enabled }) => enabled)
    .map(({ chunkId, headings, text, vector }) => ({
      key: nameId(
        documentId,
        createHash('sha256')
          .update([...headings, text].join('\n'))
          .digest('hex'),
      ),
      chunkId,
      documentId,
      title,
      headings,
      text,
      vector: vector === undefined ? undefined : new Float32Array(vector),
    }));
};
