import type { Ranked } from '../fusion';
import { idsOfScope } from './layout';
import { countOf, placeOf, type RowLengths, ROWS_OF_BLOCK, type WordLists } from './word-lists';

/** How soon more of a word counts no more, and how far the length of a row counts: the usual values. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;

/** Rows with their scores, each above 0; the same place in both. */
export interface Scored {
  readonly ids: Float64Array;
  readonly scores: Float64Array;
}

/** A word that is asked for: what it counts, and its lists, by blocks, of each scope. */
interface Asked {
  readonly weight: number;
  readonly lists: readonly ReadonlyMap<number, Uint32Array>[];
}

/** What is asked, and of which state of the file. */
export interface Bm25Query {
  /** How often each word is asked for. */
  readonly words: ReadonlyMap<string, number>;
  readonly scopes: readonly number[];
  readonly state: string;
  /** Leaves rows out of what is answered, not out of what is counted. Asked about ascending ids of each scope. */
  readonly isWanted?: ((id: number) => boolean) | undefined;
}

/**
 * BM25 of every row that has one of the words, each counted as often as it is asked for. How rare a word is, and how long rows are, is
 * counted over the scopes that are asked, and nowhere else.
 */
export const bm25 = (lists: WordLists, { words, scopes, state, isWanted = () => true }: Bm25Query): Scored => {
  const ofScopes = scopes.map((scope) => lists.lengths(scope, state));
  const count = ofScopes.reduce((sum, { rows }) => sum + rows, 0);
  const average = ofScopes.reduce((sum, each) => sum + each.words, 0) / Math.max(count, 1);
  const asked = [...words].map(([word, times]): Asked => {
    const found = scopes.map((scope) => lists.of(scope, word));
    const holding = found.flat().reduce((sum, { entries }) => sum + entries.length, 0);
    return {
      weight: times * Math.log(1 + (count - holding + 0.5) / (holding + 0.5)) * (SATURATION + 1),
      lists: found.map((blocks) => new Map(blocks.map(({ block, entries }) => [block, entries]))),
    };
  });
  const ids: number[] = [];
  const scores: number[] = [];
  const sums = new Float64Array(ROWS_OF_BLOCK);
  for (const [at, scope] of scopes.entries()) {
    const first = idsOfScope(scope)[0];
    for (const { block, lengths } of (ofScopes[at] as RowLengths).blocks) {
      const matching = asked.flatMap(({ weight, lists: each }) => {
        const found = each[at]?.get(block);
        return found === undefined ? [] : [{ weight, entries: found }];
      });
      if (matching.length === 0) continue;
      sumUp(sums.fill(0), matching, lengths, average);
      for (let place = 0; place < ROWS_OF_BLOCK; place += 1) {
        const score = sums[place] as number;
        if (score === 0) continue;
        const id = first + block * ROWS_OF_BLOCK + place;
        if (!isWanted(id)) continue;
        ids.push(id);
        scores.push(score);
      }
    }
  }
  return { ids: new Float64Array(ids), scores: new Float64Array(scores) };
};

/** The best so many, and those that are as good as the last of them, in no order. Their values are the scores below 0. */
export const bestOf = ({ ids, scores }: Scored, wanted: number): readonly Ranked<number>[] => {
  const least = scores.length <= wanted ? 0 : (scores.toSorted()[scores.length - wanted] as number);
  const best: Ranked<number>[] = [];
  for (let at = 0; at < scores.length; at += 1) {
    const score = scores[at] as number;
    if (score >= least) best.push({ id: ids[at] as number, value: -score });
  }
  return best;
};

/** Adds to the sums, by their places, what the words count in the rows of one block. */
const sumUp = (
  sums: Float64Array,
  matching: readonly { readonly weight: number; readonly entries: Uint32Array }[],
  lengths: Uint32Array,
  average: number,
): void => {
  const perWord = (SATURATION * LENGTH_SHARE) / average;
  for (const { weight, entries } of matching)
    for (let at = 0; at < entries.length; at += 1) {
      const entry = entries[at] as number;
      const place = placeOf(entry);
      const count = countOf(entry);
      const length = SATURATION * (1 - LENGTH_SHARE) + perWord * (lengths[place] as number);
      sums[place] = (sums[place] as number) + (weight * count) / (count + length);
    }
};
