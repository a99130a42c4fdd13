import { isSamePlace } from '@app/kernel';
import { estimatedTokens } from '@app/models';
import type { SearchHit } from '@app/search-index';

/** A passage as the index holds it: a citation names one. */
export interface ContextChunk {
  readonly chunkId: string;
  readonly ordinal: number;
  readonly text: string;
  /** Character offsets in the document's extracted text. */
  readonly start: number;
  readonly end: number;
}

/** A passage that was found, after reranking where that was asked for. */
export interface RankedHit extends SearchHit {
  /** From 1; absent where nothing was reranked. */
  readonly rerankRank?: number;
}

/** What an answer is made from: the best passage of a run of neighbours, with the text of the whole run. */
export interface Context extends RankedHit {
  /** In order of the text. One of them is the passage that the other fields are of. */
  readonly chunks: readonly ContextChunk[];
}

/** Most passages in a run: an answer needs what stands around a passage, not the whole document. */
const MOST_JOINED = 3;
/** A document that fills half of the places counts half from then on, so that others come in that match comparably. */
const REPEATED = 0.5;
/** Tokens of contexts for each place that is asked for; 8 places make 6,000. */
export const TOKENS_PER_PLACE = 750;

/**
 * The contexts for an answer, best first: at most `places`, with `TOKENS_PER_PLACE` each on average. Neighbouring
 * passages under the same heading become one. There is always at least one context, however long it is.
 */
export const contextsOf = (hits: readonly RankedHit[], places: number): readonly Context[] => {
  const contexts: Context[] = [];
  const most = Math.ceil(places / 2);
  const taken = new Map<string, number>();
  const worth = ({ documentId, score }: RankedHit): number =>
    (taken.get(documentId) ?? 0) < most ? score : score * REPEATED;
  let tokens = places * TOKENS_PER_PLACE;
  const left = [...hits];
  while (left.length > 0) {
    const [hit] = left.splice(bestOf(left, worth), 1) as [RankedHit];
    const cost = estimatedTokens(hit.text);
    if (cost > tokens && contexts.length > 0) continue;
    const neighbour = contexts.findIndex((context) => areNeighbours(context, hit));
    if (neighbour === -1 && contexts.length >= places) break;
    if (neighbour === -1) {
      contexts.push({ ...hit, chunks: [chunkOf(hit)] });
      taken.set(hit.documentId, (taken.get(hit.documentId) ?? 0) + 1);
    } else contexts[neighbour] = joined(contexts[neighbour] as Context, hit);
    tokens -= cost;
  }
  return contexts;
};

const bestOf = (hits: readonly RankedHit[], worth: (hit: RankedHit) => number): number => {
  let best = 0;
  for (let index = 1; index < hits.length; index += 1)
    if (worth(hits[index] as RankedHit) > worth(hits[best] as RankedHit)) best = index;
  return best;
};

const areNeighbours = (context: Context, hit: RankedHit): boolean =>
  context.documentId === hit.documentId &&
  context.chunks.length < MOST_JOINED &&
  (hit.ordinal === (context.chunks[0] as ContextChunk).ordinal - 1 ||
    hit.ordinal === (context.chunks.at(-1) as ContextChunk).ordinal + 1) &&
  isSamePlace(hit, context) &&
  hit.headings.length === context.headings.length &&
  hit.headings.every((heading, index) => heading === context.headings[index]);

const joined = (context: Context, hit: RankedHit): Context => {
  const chunks = [...context.chunks, chunkOf(hit)].toSorted((a, b) => a.ordinal - b.ordinal);
  let text = '';
  let behind = 0;
  for (const chunk of chunks) {
    // Chunks may overlap; what stands between them is white space.
    const overlap = Math.max(0, behind - chunk.start);
    text += text === '' ? chunk.text : `${chunk.start > behind ? '\n' : ''}${chunk.text.slice(overlap)}`;
    behind = Math.max(behind, chunk.end);
  }
  return { ...context, text, start: (chunks[0] as ContextChunk).start, end: behind, chunks };
};

const chunkOf = ({ chunkId, ordinal, text, start, end }: RankedHit): ContextChunk => ({
  chunkId,
  ordinal,
  text,
  start,
  end,
});
