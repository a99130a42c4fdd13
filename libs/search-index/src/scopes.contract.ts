import { direction, passage, putDocument, type TestIndex } from './test-index.contract';

/** Who finds what: scopes and filters. */
export const scopesContract = (index: () => TestIndex): void => {
  describe('scopes', () => {
    const vector = direction(1);
    const both = { mode: 'hybrid', vector: { model: 'small', values: vector } } as const;

    beforeEach(() =>
      index().apply([
        putDocument('mine', [passage('m1', 'the common word', { vector })], { tagIds: ['t1', 't2'] }),
        putDocument('yours', [passage('y1', 'the common word and UNSPEAKABLE', { vector })], {
          scope: 's:2',
          tagIds: ['t1'],
          name: 'UNSPEAKABLE',
        }),
        putDocument('ours', [passage('o1', 'the common word', { vector })], { scope: 'g', tagIds: ['t3'] }),
      ]),
    );

    it.each(['text', 'vector', 'hybrid'] as const)('never show a foreign passage: %s', async (mode) => {
      expect(await index().found('common word unspeakable', { ...both, mode })).toEqual(['m1']);
      expect(JSON.stringify(await index().search('unspeakable', { ...both, mode, limit: 100 }))).not.toContain(
        'UNSPEAKABLE',
      );
    });

    it('never show a foreign passage through filters', async () => {
      expect(await index().found('common', { ...both, documentIds: ['yours'] })).toEqual([]);
      expect(await index().found('common', { ...both, tagIds: ['t1'] })).toEqual(['m1']);
    });

    it('are several, unknown or none', async () => {
      expect(await index().found('common', { ...both, scopes: ['g', 's:1'] })).toEqual(['m1', 'o1']);
      expect(await index().found('common', { ...both, scopes: ['s:9', "s:1' or 1=1", ''] })).toEqual([]);
      expect(await index().found('common', { ...both, scopes: [] })).toEqual([]);
    });

    it('narrow to documents and to tags, one of which must fit', async () => {
      const everywhere = { ...both, scopes: ['s:1', 'g'] };
      expect(await index().found('common', { ...everywhere, documentIds: ['ours', 'nobody'] })).toEqual(['o1']);
      expect(await index().found('common', { ...everywhere, tagIds: ['t2', 't3'] })).toEqual(['m1', 'o1']);
      expect(await index().found('common', { ...everywhere, tagIds: ['t2'], documentIds: ['ours'] })).toEqual([]);
      expect(await index().found('common', { ...everywhere, tagIds: [] })).toEqual([]);
      expect(await index().found('common', { ...everywhere, documentIds: [] })).toEqual([]);
    });

    it.each(['text', 'vector', 'hybrid'] as const)(
      'pass over documents, which leave their place to others: %s',
      async (mode) => {
        const first = { ...both, mode, scopes: ['s:1', 'g'], limit: 1 };
        expect(await index().found('common', first)).toEqual(['m1']);
        expect(await index().found('common', { ...first, exceptDocumentIds: ['mine', 'nobody'] })).toEqual(['o1']);
        expect(await index().found('common', { ...first, exceptDocumentIds: [] })).toEqual(['m1']);
        expect(await index().found('common', { ...first, exceptDocumentIds: ['mine'], tagIds: ['t1'] })).toEqual([]);
      },
    );

    it('are left by a document that moves', async () => {
      await index().apply([putDocument('mine', [passage('m1', 'the common word', { vector })], { scope: 's:2' })]);
      expect([
        await index().found('common', both),
        await index().found('common', { ...both, scopes: ['s:2'] }),
      ]).toEqual([[], ['m1', 'y1']]);
    });

    it('are removed as a whole', async () => {
      await index().apply([
        { op: 'removeScope', scope: 's:2' },
        { op: 'removeScope', scope: 's:9' },
      ]);
      expect(await index().found('common', { ...both, scopes: ['s:1', 's:2', 'g'] })).toEqual(['m1', 'o1']);
    });
  });
};
