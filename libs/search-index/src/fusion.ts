import type { SearchQuery } from './search-index';

/** a row of a ranking: the smaller the value, the nearer. */
export interface Ranked<Id> {
  readonly id: Id;
  /** Of words the negative score, of vectors the cosine distance. */
  readonly value: number;
}

/** A passage that one ranking of a search found. Its chunk id tells ties apart; where there are none it may cost a read that nobody needs. */
export interface Found<Id> extends Ranked<Id> {
  readonly chunkId: string;
}

/** A passage of either ranking with its place in both. */
export interface Candidate<Id> {
  readonly id: Id;
  /** From 1; null where that ranking did not find it. */
  readonly textRank: number | null;
  readonly vectorRank: number | null;
  readonly score: number;
}

/** Of models whose description says nothing: measured with all-MiniLM-L6-v2. The bundled one has less (docs/decisions, search). */
const DEFAULT_VECTOR_WEIGHT = 1;
/** Each ranking hands this many to the fusion at least, four times the limit if that is more. */
const MIN_CANDIDATES = 200;

/** Most passages that a ranking is asked for, one of which only tells whether the cut falls into a tie. */
export const MAX_CANDIDATES = 4_096;

/** How many passages each ranking hands to the fusion. */
export const candidatesFor = (limit: number): number =>
  Math.min(Math.max(MIN_CANDIDATES, limit * 4), MAX_CANDIDATES - 1);

/** Nearest first, ties by chunk id, so that the order never depends on how passages were stored. */
export const inOrder = <Found extends { readonly value: number; readonly chunkId: string }>(
  found: readonly Found[],
): readonly Found[] => found.toSorted((a, b) => a.value - b.value || (a.chunkId < b.chunkId ? -1 : 1));

/** True when more must be fetched: the cut after `wanted` falls into a tie that goes on to the end of what was found. */
export const isCutInTie = (found: readonly { readonly value: number }[], wanted: number, limit: number): boolean =>
  found.length === limit && limit < MAX_CANDIDATES && found[wanted - 1]?.value === found.at(-1)?.value;

/**
 * Joins both rankings by their scores, the same on every engine: that of the words as a share of the best, and that of the vector
 * between the worst and the best that were found, at the model's weight. So a model that tells little apart moves only what words
 * leave close together. Ties are ordered by chunk id.
 */
export const fused = <Id>(
  byText: readonly Found<Id>[],
  byVector: readonly Found<Id>[],
  { mode, vectorWeight = DEFAULT_VECTOR_WEIGHT }: Pick<SearchQuery, 'mode' | 'vectorWeight'>,
): readonly Candidate<Id>[] => {
  const texts = new Map(
    byText.map(({ id, value }, index) => [id, { rank: index + 1, score: shareOfBest(value, byText) }]),
  );
  const vectors = new Map(
    byVector.map(({ id, value }, index) => [
      id,
      { rank: index + 1, score: mode === 'vector' ? cosine(value) : vectorWeight * betweenBoth(value, byVector) },
    ]),
  );
  const found = new Map([...byText, ...byVector].map((passage) => [passage.id, passage]));
  return [...found]
    .map(([id, passage]) => {
      const [text, vector] = [texts.get(id), vectors.get(id)];
      const score = (text?.score ?? 0) + (vector?.score ?? 0);
      return { passage, candidate: { id, textRank: text?.rank ?? null, vectorRank: vector?.rank ?? null, score } };
    })
    .toSorted((a, b) => b.candidate.score - a.candidate.score || (a.passage.chunkId < b.passage.chunkId ? -1 : 1))
    .map(({ candidate }) => candidate);
};

const shareOfBest = (value: number, found: readonly Ranked<unknown>[]): number => {
  const best = found[0]?.value ?? 0;
  return best === 0 ? 1 : value / best;
};

const betweenBoth = (value: number, found: readonly Ranked<unknown>[]): number => {
  const [best, worst] = [found[0]?.value ?? 0, found.at(-1)?.value ?? 0];
  return worst === best ? 1 : (worst - value) / (worst - best);
};

const cosine = (distance: number): number => Math.max(0, 1 - distance);
