import { isErased } from '@app/kernel';
import { decodePassages, encodePassages, type Passage } from '@app/search-index';
import { embeddedBefore } from '../document/document-blobs';
import { type EmbeddingParts, embedMetered, type Payer } from '../embed-metered';
import type { DocumentWork } from './document-work';
import { embeddedText, embeddingKey, inStrides } from './passages';

/** Texts in one call of the embedding model: what a killed worker has embedded for nothing, at most. */
const BATCH = 16;

export interface EmbeddedPassages {
  readonly passages: readonly Passage[];
  readonly embeddingModel: string;
  /** How many were embedded now, and of these how many are in the last batch, which no event names yet. */
  readonly made: number;
  readonly last: number;
}

/**
 * Gives passages their vectors. Those that this document was embedded with before, by an earlier attempt or for earlier
 * content, are used again; the others are embedded in batches, each stored before the next is begun. The last one is for
 * the caller to store, with the whole. Undefined where this attempt counts no longer. `progress` hears how many are done.
 */
export const embedPassages = async (
  parts: EmbeddingParts,
  work: DocumentWork,
  given: readonly Passage[],
  signal: AbortSignal,
  progress: (done: number) => void,
): Promise<EmbeddedPassages | undefined> => {
  const embedding = parts.models.embedding();
  const embeddingModel = embedding.model.key;
  const { attempt } = work.document;
  const name = isErased(work.document.name) ? '' : work.document.name;
  const known = await vectorsKnown(work, embeddingModel);
  const passages = await inStrides(given, (passage): Passage => {
    const vector = known.get(embeddingKey(passage));
    return vector === undefined ? passage : { ...passage, vector };
  });
  const missing = passages.filter(({ vector }) => vector === undefined);
  const payer = payerOf(work);
  let last = 0;
  for (let from = 0; from < missing.length; from += BATCH) {
    const batch = missing.slice(from, from + BATCH);
    const texts = batch.map((passage) => embeddedText(name, passage));
    const vectors = await embedMetered(parts, embedding, { payer, holds: true, texts, purpose: 'passage', signal });
    const embedded = batch.map((passage, index): Passage => ({ ...passage, vector: vectors[index] as Float32Array }));
    for (const passage of embedded) passages[passage.ordinal] = passage;
    last = batch.length;
    progress(passages.length - missing.length + from + last);
    if (from + BATCH >= missing.length) break;
    const named = await work.store([await encodePassages(embedded)], ([name = '']) => ({
      type: 'MarkEmbedded',
      attempt,
      passages: name,
      count: embedded.length,
      embeddingModel,
    }));
    if (named === undefined) return undefined;
  }
  return { passages, embeddingModel, made: missing.length, last };
};

/** Vectors that this document has of the model already, by what they are of. */
const vectorsKnown = async (work: DocumentWork, model: string): Promise<ReadonlyMap<string, Float32Array>> => {
  const known = new Map<string, Float32Array>();
  for (const before of embeddedBefore(work.document)) {
    const body = before.model === model ? await work.read(before.passages) : undefined;
    await inStrides(body === undefined ? [] : await decodePassages(body), (passage) => {
      if (passage.vector !== undefined) known.set(embeddingKey(passage), new Float32Array(passage.vector));
    });
  }
  return known;
};

const payerOf = ({ document: { askedBy, agentId, spaceId } }: DocumentWork): Payer => ({
  ...askedBy,
  ...(agentId === null ? {} : { agentId }),
  ...(spaceId === null ? {} : { spaceId }),
});
