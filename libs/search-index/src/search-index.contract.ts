import { CheckpointMismatch, Fenced } from '@app/read-store';
import type { SearchOperation } from '.';
import { scopesContract } from './scopes.contract';
import { direction, passage, putDocument, type SearchIndexUnderTest, TestIndex } from './test-index.contract';
import { textContract } from './text.contract';
import { vectorsContract } from './vectors.contract';

/** What every adapter of the `SearchIndex` port does. One store serves all tests; each has an index of its own. */
export const searchIndexContract = (name: string, open: () => Promise<SearchIndexUnderTest>): void => {
  describe(`${name} as a search index`, () => {
    let under: SearchIndexUnderTest;
    let tested: TestIndex;
    let tests = 0;
    const index = (): TestIndex => tested;
    const reopen = async (): Promise<void> => void (tested = new TestIndex(tested.name, await under.reopen()));

    beforeAll(async () => {
      under = await open();
      tested = new TestIndex('none', under.index);
    });
    afterAll(() => under.destroy());
    beforeEach(async () => {
      tested = new TestIndex(`passages-${(tests += 1)}`, tested.index);
      await tested.index.prepare(tested.name, 1);
      await tested.index.swap(tested.name, undefined, 1);
    });

    textContract(index);
    vectorsContract(index);
    scopesContract(index);

    describe('updates', () => {
      it('replace a document as a whole', async () => {
        await index().apply([putDocument('d1', [passage('c1', 'alpha'), passage('c2', 'beta')])]);
        await index().apply([putDocument('d1', [passage('c3', 'gamma')], { revision: 2 })]);
        expect([
          await index().found('alpha beta'),
          await index().found('gamma'),
          await index().index.count(index().name, 1),
        ]).toEqual([[], ['c3'], { documents: 1, passages: 1 }]);
      });

      it('patch name, tags and revision, and leave unknown documents unknown', async () => {
        await index().apply([
          putDocument('d1', [passage('c1', 'alpha', { vector: direction(1) })], { name: 'Old', tagIds: ['t1'] }),
        ]);
        await index().apply([
          { op: 'patchDocument', documentId: 'd1', fields: { name: 'Renamed', tagIds: ['t2'], revision: 5 } },
          { op: 'patchDocument', documentId: 'd9', fields: { name: 'x' } },
        ]);
        expect(await index().search('renamed', { tagIds: ['t2'] })).toMatchObject([
          { chunkId: 'c1', documentName: 'Renamed', documentRevision: 5 },
        ]);
        expect([await index().found('old'), await index().found('alpha', { tagIds: ['t1'] })]).toEqual([[], []]);
        expect(await index().found('', { mode: 'vector', vector: { model: 'small', values: direction(1) } })).toEqual([
          'c1',
        ]);
      });

      it('remove a document, and nothing where there is none', async () => {
        await index().apply([
          putDocument('d1', [passage('c1', 'alpha', { vector: direction(1) })]),
          putDocument('d2', [passage('c2', 'alpha')]),
        ]);
        await index().apply([
          { op: 'removeDocument', documentId: 'd1' },
          { op: 'removeDocument', documentId: 'd9' },
        ]);
        expect([
          await index().found('alpha', { mode: 'hybrid', vector: { model: 'small', values: direction(1) } }),
          await index().index.count(index().name, 1),
        ]).toEqual([['c2'], { documents: 1, passages: 1 }]);
      });

      it('say at which revision a document is found', async () => {
        const revisions = async () =>
          Promise.all(['d1', 'd2'].map((documentId) => index().index.revisionOf(index().name, documentId)));
        await index().apply([
          putDocument('d1', [passage('c1', 'alpha')], { revision: 2 }),
          putDocument('d2', [passage('c2', 'alpha')]),
        ]);
        await index().apply([
          putDocument('d1', [passage('c1', 'alpha')], { revision: 6 }),
          { op: 'removeDocument', documentId: 'd2' },
        ]);
        expect(await revisions()).toEqual([6, undefined]);
      });

      it('are all or nothing, with the checkpoint', async () => {
        await index().apply([putDocument('d1', [passage('c1', 'alpha')])]);
        const twice = putDocument('d2', [passage('c2', 'beta', { vector: [] })]);
        await expect(index().apply([putDocument('d3', [passage('c3', 'gamma')]), twice])).rejects.toThrow();
        expect([await index().found('beta gamma'), await index().index.checkpoint(index().name, 1)]).toEqual([
          [],
          { position: '000001', handled: 1 },
        ]);
      });

      it('are rejected out of order and from an older writer, also after a restart', async () => {
        await index().apply([putDocument('d1', [passage('c1', 'alpha')])], { fence: 3 });
        await expect(index().apply([], { from: null, fence: 3 })).rejects.toThrow(CheckpointMismatch);
        await reopen();
        await expect(index().apply([], { fence: 2 })).rejects.toThrow(Fenced);
        expect(await index().found('alpha')).toEqual(['c1']);
      });
    });

    describe('slices', () => {
      it('keep checkpoint and fence apart, over restarts too', async () => {
        const to = { position: '000005', handled: 1 };
        await index().apply([putDocument('d1', [passage('c1', 'alpha')])], { slice: 1, from: null, to, fence: 5 });
        await index().apply([putDocument('d2', [passage('c2', 'alpha')])], {
          slice: 2,
          from: null,
          to: { position: '000007', handled: 2 },
          fence: 3,
        });
        await reopen();
        const places = await Promise.all([0, 1, 2].map((slice) => index().index.checkpoint(index().name, 1, slice)));
        expect(places).toEqual([{ position: null, handled: 0 }, to, { position: '000007', handled: 2 }]);
        await expect(index().apply([], { slice: 1, from: '000005', to, fence: 4 })).rejects.toThrow(Fenced);
        await expect(index().apply([], { slice: 2, from: '000005', to, fence: 5 })).rejects.toThrow(CheckpointMismatch);
        expect((await index().found('alpha')).toSorted()).toEqual(['c1', 'c2']);
      });
    });

    describe('versions', () => {
      it('fill beside the live one and are searched from the swap on', async () => {
        await index().apply([putDocument('d1', [passage('c1', 'alpha')])]);
        await index().index.prepare(index().name, 2);
        await index().apply([putDocument('d1', [passage('c2', 'alpha')])], { version: 2 });
        expect([await index().found('alpha'), await index().index.versions(index().name)]).toEqual([['c1'], [1, 2]]);
        expect([
          await index().index.swap(index().name, 1, 2),
          await index().index.swap(index().name, 1, 2),
          await index().index.live(index().name),
        ]).toEqual([true, false, 2]);
        expect(await index().found('alpha')).toEqual(['c2']);
        await index().index.drop(index().name, 1);
        expect([await index().index.versions(index().name), await index().index.checkpoint(index().name, 1)]).toEqual([
          [2],
          undefined,
        ]);
      });

      it('with the same documents answer the same, however they came about', async () => {
        const text = (n: number) => `${['alpha', 'beta', 'alpha beta', 'gamma'][n % 4]} ${'word '.repeat(n % 3)}`;
        const documents = [...Array(30).keys()].map((n) =>
          putDocument(`d${n}`, [
            passage(`c${n}a`, text(n), { vector: direction(n % 5, 1) }),
            passage(`c${n}b`, text(n + 1), { vector: direction(1, n % 3) }),
          ]),
        );
        const old = documents.map((_, n): SearchOperation =>
          putDocument(`d${n}`, [passage(`x${n}`, 'alpha stale')], { name: 'Stale', scope: 's:2' }),
        );
        await index().index.prepare(index().name, 2);
        await index().apply(documents);
        for (const operation of [...old, ...documents.toReversed()]) await index().apply([operation], { version: 2 });

        // Without scores: Elasticsearch counts deleted passages among the words of a corpus until it merges them away.
        const answers = async () =>
          Promise.all(
            ['alpha', 'beta gamma', 'word'].map(async (query) =>
              (
                await index().search(query, {
                  mode: 'hybrid',
                  limit: 7,
                  vector: { model: 'small', values: direction(1, 1) },
                })
              ).map(({ score: _score, ...hit }) => hit),
            ),
          );
        const before = [await answers(), await index().index.scan(index().name, 1, null, 100)];
        await index().index.swap(index().name, 1, 2);
        expect([await answers(), await index().index.scan(index().name, 2, null, 100)]).toEqual(before);
      });

      it('are compared by a digest of all they hold of a document, in pages', async () => {
        const digests = async () =>
          new Map(
            (await index().index.scan(index().name, 1, null, 10)).map(({ documentId, digest }) => [documentId, digest]),
          );
        await index().apply(
          ['d1', 'd2', 'd3'].map((id) => putDocument(id, [passage('c', 'alpha', { vector: direction(1) })])),
        );
        const before = await digests();
        expect((await index().index.scan(index().name, 1, 'd1', 1)).map(({ documentId }) => documentId)).toEqual([
          'd2',
        ]);
        await index().apply([
          putDocument('d1', [passage('c', 'alpha', { vector: direction(1, 1) })]),
          { op: 'patchDocument', documentId: 'd2', fields: { tagIds: ['t'] } },
        ]);
        const after = await digests();
        expect(['d1', 'd2', 'd3'].map((id) => after.get(id) === before.get(id))).toEqual([false, false, true]);
      });

      it('are unavailable before the first is live', async () => {
        await expect(
          index().index.search(`${index().name}-later`, { scopes: ['s:1'], text: 'x', mode: 'text', limit: 1 }),
        ).rejects.toMatchObject({ name: 'Unavailable' });
      });
    });

    it('is healthy, and searches on over a purge', async () => {
      await index().apply([
        putDocument('d1', [passage('c1', 'alpha')]),
        putDocument('d2', [passage('c2', 'alpha', { vector: direction(1) })]),
      ]);
      await index().apply([{ op: 'removeDocument', documentId: 'd2' }]);
      await index().index.purge();
      expect([await index().index.health(), await index().found('alpha')]).toEqual([{ ok: true }, ['c1']]);
    });
  });
};
