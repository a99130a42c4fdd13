import { meansOf, ndcgAt10, recallAt100, reciprocalRank } from './metrics';

const relevant = new Map([
  ['a', 3],
  ['b', 2],
  ['c', 1],
]);
const others = (count: number) => Array.from({ length: count }, (_, index) => `x${index}`);

describe('nDCG@10', () => {
  it('is 1 for the best ranking, whatever follows it, and 0 for one without relevant documents', () => {
    expect(ndcgAt10(['a', 'b', 'c', 'x'], relevant)).toBe(1);
    expect(ndcgAt10(['x', 'y'], relevant)).toBe(0);
    expect(ndcgAt10([], relevant)).toBe(0);
  });

  it('discounts linear gains by log2(rank + 1), over the best ranking', () => {
    // As trec_eval: (2/1 + 0 + 3/2) / (3/1 + 2/log2(3) + 1/2)
    expect(ndcgAt10(['b', 'x', 'a'], relevant)).toBeCloseTo(3.5 / (3 + 2 / Math.log2(3) + 0.5), 12);
    expect(ndcgAt10(['x', 'a'], new Map([['a', 1]]))).toBeCloseTo(1 / Math.log2(3), 12);
  });

  it('looks at ten, of the ranking and of the best one', () => {
    expect(ndcgAt10([...others(10), 'a'], relevant)).toBe(0);
    const eleven = new Map(others(11).map((id) => [id, 1]));
    expect(ndcgAt10(others(10), eleven)).toBe(1);
  });
});

it('recall@100 is the share of the relevant that are among the first hundred', () => {
  expect(recallAt100(['a', 'x', 'b'], relevant)).toBeCloseTo(2 / 3, 12);
  expect(recallAt100([...others(99), 'a', 'b'], relevant)).toBeCloseTo(1 / 3, 12);
});

it('MRR is one over the rank of the first relevant', () => {
  expect([
    reciprocalRank(['x', 'y', 'c', 'a'], relevant),
    reciprocalRank(['a'], relevant),
    reciprocalRank([...others(100), 'a'], relevant),
    reciprocalRank([], relevant),
  ]).toEqual([1 / 3, 1, 0, 0]);
});

it('means are over all queries, also those that nothing was found for', () =>
  expect(
    meansOf([
      { ranking: ['a', 'b', 'c'], relevant },
      { ranking: [], relevant },
    ]),
  ).toEqual({ 'nDCG@10': 0.5, 'recall@100': 0.5, MRR: 0.5 }));
