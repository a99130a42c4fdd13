/** The documents that are relevant to a query, each with its grade above 0. */
export type Judgements = ReadonlyMap<string, number>;

/** Means over all judged queries. */
export interface Metrics {
  readonly 'nDCG@10': number;
  readonly 'recall@100': number;
  readonly MRR: number;
}

const NDCG_DEPTH = 10;
/** How many documents of a ranking are looked at. */
export const DEPTH = 100;

/**
 * Normalized discounted cumulative gain at 10, as `ndcg_cut.10` of `trec_eval`. The gain is the grade (linear, not
 * 2^grade - 1), discounted by log2(rank + 1) and divided by that of the ideal ranking.
 */
export const ndcgAt10 = (ranking: readonly string[], relevant: Judgements): number => {
  const ideal = discounted([...relevant.values()].toSorted((a, b) => b - a));
  return ideal === 0 ? 0 : discounted(ranking.map((id) => relevant.get(id) ?? 0)) / ideal;
};

/** The share of the relevant documents that are among a ranking's first hundred. */
export const recallAt100 = (ranking: readonly string[], relevant: Judgements): number =>
  relevant.size === 0 ? 0 : ranking.slice(0, DEPTH).filter((id) => relevant.has(id)).length / relevant.size;

/** One over the rank of the first relevant document among a ranking's first hundred; 0 where there is none. */
export const reciprocalRank = (ranking: readonly string[], relevant: Judgements): number => {
  const rank = ranking.slice(0, DEPTH).findIndex((id) => relevant.has(id));
  return rank === -1 ? 0 : 1 / (rank + 1);
};

/** A query that nothing was found for counts as 0. */
export const meansOf = (
  rankings: readonly { readonly ranking: readonly string[]; readonly relevant: Judgements }[],
): Metrics => {
  const mean = (metric: typeof ndcgAt10): number =>
    rankings.reduce((sum, { ranking, relevant }) => sum + metric(ranking, relevant), 0) / Math.max(1, rankings.length);
  return { 'nDCG@10': mean(ndcgAt10), 'recall@100': mean(recallAt100), MRR: mean(reciprocalRank) };
};

const discounted = (grades: readonly number[]): number =>
  grades.slice(0, NDCG_DEPTH).reduce((sum, grade, index) => sum + grade / Math.log2(index + 2), 0);
