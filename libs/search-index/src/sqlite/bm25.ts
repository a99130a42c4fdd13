import type { Ranked } from '../fusion';
import { idsOfScope } from './layout';
import { countOf, placeOf, ROWS_OF_BLOCK, type WordBlock, type WordLists } from './word-lists';

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

/**
 * BM25 of every row that has one of the words, each counted as often as it is asked for. How rare a word is, and how long rows are, is
 * counted over the scopes that are asked, and nowhere else. `isWanted` leaves rows out of what is answered, not out of what is counted.
 */
export const bm25 = (
  lists: WordLists,
  words: ReadonlyMap<string, number>,
  scopes: readonly number[],
  isWanted: (id: number) => boolean = () => true,
): Scored => {
  const rows = scopes.map((scope) => lists.rows(scope));
  const { count, average } = totalOf(rows.flat());
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
  for (const [at, scope] of scopes.entries()) {
    const first = idsOfScope(scope)[0];
    for (const { block, entries } of rows[at] as readonly WordBlock[]) {
      const matching = asked.flatMap(({ weight, lists: ofScopes }) => {
        const found = ofScopes[at]?.get(block);
        return found === undefined ? [] : [{ weight, entries: found }];
      });
      if (matching.length === 0) continue;
      const sums = scoresOf(matching, entries, average);
      for (let place = 0; place < ROWS_OF_BLOCK; place += 1) {
        const score = sums[place] as number;
        const id = first + block * ROWS_OF_BLOCK + place;
        if (score === 0 || !isWanted(id)) continue;
        ids.push(id);
        scores.push(score);
      }
    }
  }
  return { ids: Float64Array.from(ids), scores: Float64Array.from(scores) };
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

const totalOf = (rows: readonly WordBlock[]): { readonly count: number; readonly average: number } => {
  let count = 0;
  let words = 0;
  for (const { entries } of rows) {
    count += entries.length;
    for (let at = 0; at < entries.length; at += 1) words += countOf(entries[at] as number);
  }
  return { count, average: words / Math.max(count, 1) };
};

/** The scores of the rows of one block, by their places. */
const scoresOf = (
  matching: readonly { readonly weight: number; readonly entries: Uint32Array }[],
  rows: Uint32Array,
  average: number,
): Float64Array => {
  const lengths = new Uint32Array(ROWS_OF_BLOCK);
  for (let at = 0; at < rows.length; at += 1) lengths[placeOf(rows[at] as number)] = countOf(rows[at] as number);
  const sums = new Float64Array(ROWS_OF_BLOCK);
  const perWord = (SATURATION * LENGTH_SHARE) / average;
  for (const { weight, entries } of matching)
    for (let at = 0; at < entries.length; at += 1) {
      const entry = entries[at] as number;
      const place = placeOf(entry);
      const count = countOf(entry);
      const length = SATURATION * (1 - LENGTH_SHARE) + perWord * (lengths[place] as number);
      sums[place] = (sums[place] as number) + (weight * count) / (count + length);
    }
  return sums;
};
