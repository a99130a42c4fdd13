import { EMPTY_HIERARCHY, type Hierarchy } from './hierarchy';
import { estimateOf, likelyClusters, likelySections } from './estimate';

const free = { pricing: 'free' as const };
const priced = {
  pricing: { currency: 'USD', input: '1', output: '2', per: 1_000_000, cachedInput: null, cacheWrite: null },
};
const document = (documentId: string, chunkCount: number, revision = 1) => ({
  documentId,
  revision,
  passages: `${documentId}@${revision}`,
  chunkCount,
  tokenCount: chunkCount * 100,
});
const estimate = (documents: readonly ReturnType<typeof document>[], before: Hierarchy = EMPTY_HIERARCHY) =>
  estimateOf({ documents, before, chat: priced, embedding: free });
const before = (...documents: readonly ReturnType<typeof document>[]): Hierarchy => ({
  documents: Object.fromEntries(documents.map(({ documentId, revision }) => [documentId, revision])),
  passages: Object.fromEntries(documents.map(({ documentId, passages }) => [documentId, passages])),
  nodes: documents.map(({ documentId }) => ({
    id: `summary of ${documentId}`,
    level: 1,
    children: [],
    chunks: [{ chunkId: 'c', documentId, key: 'k' }],
  })),
});

describe('an estimate', () => {
  it('is nothing for nothing, and for a single chunk', () => {
    expect(estimate([])).toEqual({ calls: 0, tokens: 0, cost: '0' });
    expect(estimate([document('a', 1)])).toMatchObject({ calls: 0 });
  });

  it('counts sections, clusters up to the root, and batches of embeddings', () => {
    expect([likelySections(1), likelySections(3), likelySections(40)]).toEqual([0, 1, 7]);
    expect([likelyClusters(1), likelyClusters(8), likelyClusters(40)]).toEqual([[], [1], [8, 1]]);
    // 18 sections and a root of 4 clusters; the sections are embedded in two calls.
    expect(estimate([document('a', 100)])).toMatchObject({ calls: 18 + 4 + 1 + 2 });
  });

  it('is of what changed alone', () => {
    const all = ['a', 'b', 'c', 'd'].map((id) => document(id, 40));
    expect(estimate(all, before(...all))).toEqual({ calls: 0, tokens: 0, cost: '0' });
    const whole = estimate(all).calls;
    const changed = estimate([document('a', 40, 2), ...all.slice(1)], before(...all)).calls;
    expect(changed).toBeGreaterThan(10);
    expect(changed).toBeLessThan(whole);
    expect(estimate(all.slice(1), before(...all)).calls).toBeGreaterThan(0);
  });

  it('has the prices of both models', () => {
    const { cost } = estimate([document('a', 8)]);
    const dearer = estimateOf({
      documents: [document('a', 8)],
      before: EMPTY_HIERARCHY,
      chat: free,
      embedding: priced,
    });
    expect([Number(cost) > 0, dearer.cost]).toEqual([true, '0']);
  });
});
