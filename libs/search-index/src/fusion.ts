import type { SearchQuery } from './search-index';

/** A passage that one leg of a search found. */
export interface Found<Id> {
  readonly id: Id;
  readonly chunkId: string;
}

/** A passage of either leg with its place in both. */
export interface Candidate<Id> extends Found<Id> {
  /** From 1; null where that leg did not find it. */
  readonly textRank: number | null;
  readonly vectorRank: number | null;
  readonly score: number;
}

/** A row of a leg: the smaller the value, the nearer. */
export interface Ranked<Id> {
  readonly id: Id;
  readonly value: number;
}

/** Weight of rank 1 against the ranks below it (Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", 2009). */
const RANK_CONSTANT = 60;
/** Text leads: measured on judged collections, a small embedding model counts a quarter of BM25. */
const DEFAULT_VECTOR_WEIGHT = 0.25;
/** Each leg hands this many to the fusion at least, four times the limit if that is more. */
const MIN_CANDIDATES = 50;

/** Most passages that a leg is asked for, one of which only tells whether the cut falls into a tie. */
export const MAX_CANDIDATES = 4_096;

/** How many passages each leg hands to the fusion. */
export const candidatesFor = (limit: number): number =>
  Math.min(Math.max(MIN_CANDIDATES, limit * 4), MAX_CANDIDATES - 1);

/** Nearest first, ties by chunk id, so that the order never depends on how passages were stored. */
export const inOrder = <Found extends { readonly value: number; readonly chunkId: string }>(
  found: readonly Found[],
): readonly Found[] => found.toSorted((a, b) => a.value - b.value || (a.chunkId < b.chunkId ? -1 : 1));

/** True when more must be fetched: the cut after `wanted` falls into a tie that goes on to the end of what was found. */
export const isCutInTie = (found: readonly { readonly value: number }[], wanted: number, limit: number): boolean =>
  found.length === limit && limit < MAX_CANDIDATES && found[wanted - 1]?.value === found.at(-1)?.value;

/** Joins both rankings by reciprocal rank: the same on every engine. Ties are ordered by chunk id. */
export const fused = <Id>(
  byText: readonly Found<Id>[],
  byVector: readonly Found<Id>[],
  { mode, vectorWeight }: Pick<SearchQuery, 'mode' | 'vectorWeight'>,
): readonly Candidate<Id>[] => {
  const weight = mode === 'vector' ? 1 : (vectorWeight ?? DEFAULT_VECTOR_WEIGHT);
  const textRanks = new Map(byText.map(({ id }, index) => [id, index + 1]));
  const vectorRanks = new Map(byVector.map(({ id }, index) => [id, index + 1]));
  const chunks = new Map([...byText, ...byVector].map(({ id, chunkId }) => [id, chunkId]));
  return [...chunks]
    .map(([id, chunkId]) => {
      const textRank = textRanks.get(id) ?? null;
      const vectorRank = vectorRanks.get(id) ?? null;
      return { id, chunkId, textRank, vectorRank, score: reciprocal(textRank) + weight * reciprocal(vectorRank) };
    })
    .toSorted((a, b) => b.score - a.score || (a.chunkId < b.chunkId ? -1 : 1));
};

const reciprocal = (rank: number | null): number => (rank === null ? 0 : 1 / (RANK_CONSTANT + rank));
