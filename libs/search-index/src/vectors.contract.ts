import { direction, passage, putDocument, type TestIndex } from './test-index.contract';

/** What is found by meaning, and how it is joined with what is found by words. */
export const vectorsContract = (index: () => TestIndex): void => {
  describe('vectors', () => {
    const like = (...parts: readonly number[]) => ({ vector: { model: 'small', values: direction(...parts) } });
    const three = [
      passage('c1', 'alpha', { vector: direction(1, 0, 0) }),
      passage('c2', 'beta', { vector: direction(0, 1, 0) }),
      passage('c3', 'gamma', { vector: direction(1, 1, 0) }),
    ];

    it('finds the nearest first, over all scopes asked for', async () => {
      await index().apply([
        putDocument('d1', three),
        putDocument('d2', [passage('c4', 'delta', { vector: direction(5, 1, 0) })], { scope: 'g' }),
      ]);
      expect(await index().found('', { mode: 'vector', ...like(1, 0.05, 0), scopes: ['s:1', 'g'] })).toEqual([
        'c1',
        'c4',
        'c3',
        'c2',
      ]);
      expect(await index().found('', { mode: 'vector', ...like(1, 0.05, 0), scopes: ['s:1', 'g'], limit: 2 })).toEqual([
        'c1',
        'c4',
      ]);
    });

    it('compares vectors of one model and one length only', async () => {
      await index().apply([
        putDocument('d1', three),
        putDocument('d2', [passage('c4', 'x', { vector: direction(1) })], { embeddingModel: 'large' }),
        putDocument('d3', [passage('c5', 'x', { vector: [1, 0] })]),
      ]);
      expect(await index().found('', { mode: 'vector', vector: { model: 'large', values: direction(1) } })).toEqual([
        'c4',
      ]);
      expect(await index().found('', { mode: 'vector', vector: { model: 'small', values: [1, 0] } })).toEqual(['c5']);
      expect(await index().found('', { mode: 'vector', vector: { model: 'unknown', values: direction(1) } })).toEqual(
        [],
      );
      expect(
        await index().found('alpha', { mode: 'hybrid', vector: { model: 'unknown', values: direction(1) } }),
      ).toEqual(['c1']);
    });

    it('joins both rankings, with text in the lead', async () => {
      await index().apply([putDocument('d1', three)]);
      const hits = await index().search('alpha', { mode: 'hybrid', ...like(0, 1, 0) });
      expect(hits.map(({ chunkId, textRank, vectorRank }) => [chunkId, textRank, vectorRank])).toEqual([
        ['c1', 1, 3],
        ['c2', null, 1],
        ['c3', null, 2],
      ]);
      expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).toSorted((a, b) => b - a));
    });

    it('weighs the vectors as the embedding model asks', async () => {
      await index().apply([
        putDocument('d1', [...three, passage('c4', 'alpha alpha', { vector: direction(0, 0, 1) })]),
      ]);
      const first = async (vectorWeight: number) =>
        (await index().found('alpha', { mode: 'hybrid', ...like(1, 0.01, 0), vectorWeight }))[0];
      expect([await first(0), await first(1)]).toEqual(['c4', 'c1']);
    });

    it('uses the text or the vector alone when asked to', async () => {
      await index().apply([putDocument('d1', three)]);
      expect(await index().found('alpha', { mode: 'text', ...like(0, 1, 0) })).toEqual(['c1']);
      expect(
        (await index().search('alpha', { mode: 'vector', ...like(0, 1, 0) })).map(({ chunkId, textRank }) => [
          chunkId,
          textRank,
        ]),
      ).toEqual([
        ['c2', null],
        ['c3', null],
        ['c1', null],
      ]);
      expect(await index().found('alpha', { mode: 'vector' })).toEqual([]);
    });
  });
};
