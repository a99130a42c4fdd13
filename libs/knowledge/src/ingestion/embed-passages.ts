import { isErased } from '@app/kernel';
import { decodePassages, encodePassages, type StoredPassage } from '@app/search-index';
import type { Embedded } from '../document/document-blobs';
import type { DocumentCommand } from '../document/document.commands';
import { type EmbeddingParts, embedMetered, type Payer } from '../embed-metered';
import type { DocumentWriter } from './document-writer';
import { embeddedText, embeddingKey, legacyEmbeddingKey, inStrides } from './passages';

/** Texts in one call of the embedding model: what a killed worker has embedded for nothing, at most. */
export const TEXTS_IN_CALL = 16;

export interface EmbeddedPassages {
  readonly passages: readonly StoredPassage[];
  readonly embeddingModel: string;
  /** How many were embedded now, and of these how many are in the last batch, which no event names yet. */
  readonly made: number;
  readonly last: number;
}

/** For whom, beside what, and how batches are named. */
interface EmbeddingOf {
  readonly payer: Payer;
  /** What may hold vectors of these passages. */
  readonly before: readonly Embedded[];
  readonly batch: (stored: {
    readonly passages: string;
    readonly count: number;
    readonly embeddingModel: string;
  }) => DocumentCommand;
  readonly signal: AbortSignal;
  /** Asked before each call; if it returns false, the work ends. Default: always true. */
  readonly isWanted?: () => Promise<boolean>;
  /** Hears how many are done. */
  readonly progress: (done: number) => void;
}

/**
 * Gives passages their vectors. Vectors from earlier attempts or earlier content of this document are reused. The
 * others are embedded in batches, each stored before the next begins; the caller stores the last batch with the
 * complete document. Undefined if this attempt no longer counts or is no longer wanted.
 */
export const embedPassages = async (
  parts: EmbeddingParts,
  writer: DocumentWriter,
  given: readonly StoredPassage[],
  { payer, before, batch: keep, signal, isWanted = async () => true, progress }: EmbeddingOf,
): Promise<EmbeddedPassages | undefined> => {
  const embedding = parts.models.embedding();
  const embeddingModel = embedding.model.key;
  const name = isErased(writer.document.name) ? '' : writer.document.name;
  const known = await vectorsKnown(writer, before, embeddingModel);
  const passages = await inStrides(given, (passage): StoredPassage => {
    const embeddedAs = embeddingKey(name, passage);
    const vector = known.get(embeddedAs);
    if (vector !== undefined) return { ...passage, vector, embeddedAs };
    const legacy = known.get(LEGACY + legacyEmbeddingKey(passage));
    return legacy === undefined ? passage : { ...passage, vector: legacy };
  });
  const missing = passages.filter(({ vector }) => vector === undefined);
  let last = 0;
  for (let from = 0; from < missing.length; from += TEXTS_IN_CALL) {
    if (!(await isWanted())) return undefined;
    const batch = missing.slice(from, from + TEXTS_IN_CALL);
    const texts = batch.map((passage) => embeddedText(name, passage));
    const vectors = await embedMetered(parts, embedding, {
      payer,
      holds: true,
      texts,
      inDocument: missing.length,
      purpose: 'passage',
      signal,
    });
    const embedded = batch.map((passage, index): StoredPassage => ({
      ...passage,
      vector: vectors[index] as Float32Array,
      embeddedAs: embeddingKey(name, passage),
    }));
    for (const passage of embedded) passages[passage.ordinal] = passage;
    last = batch.length;
    progress(passages.length - missing.length + from + last);
    if (from + TEXTS_IN_CALL >= missing.length) break;
    const named = await writer.store([await encodePassages(embedded)], ([passages = '']) =>
      keep({ passages, count: embedded.length, embeddingModel }),
    );
    if (named === undefined) return undefined;
  }
  return { passages, embeddingModel, made: missing.length, last };
};

/** Before the keys of vectors of which an earlier version did not say what title they have. */
const LEGACY = 'legacy ';

/** Vectors that this document has of the model already, by what they are of. */
const vectorsKnown = async (
  writer: DocumentWriter,
  all: readonly Embedded[],
  model: string,
): Promise<ReadonlyMap<string, Float32Array>> => {
  const known = new Map<string, Float32Array>();
  for (const before of all) {
    const body = before.model === model ? await writer.read(before.passages) : undefined;
    await inStrides(body === undefined ? [] : await decodePassages(body), (passage) => {
      const { vector, embeddedAs = LEGACY + legacyEmbeddingKey(passage) } = passage;
      if (vector !== undefined) known.set(embeddedAs, new Float32Array(vector));
    });
  }
  return known;
};

export const payerOf = ({ document: { askedBy, agentId, spaceId } }: DocumentWriter): Payer => ({
  ...askedBy,
  ...(agentId === null ? {} : { agentId }),
  ...(spaceId === null ? {} : { spaceId }),
});
