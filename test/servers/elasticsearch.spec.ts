import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { openSqliteSearchIndex, type SearchIndex, type SearchHit, type SearchQuery } from '@app/search-index';
import { searchIndexContract } from '../../libs/search-index/src/search-index.contract';
import { direction, passage, putDocument, TestIndex } from '../../libs/search-index/src/test-index.contract';
import { instanceOn } from './elasticsearch-instance';
import { withServer } from './with-server';

withServer('ELASTICSEARCH_URL', 'Elasticsearch', (url) => {
  searchIndexContract('Elasticsearch', async () => {
    const instance = instanceOn(url);
    return { index: await instance.open(), reopen: () => instance.open(), destroy: () => instance.destroy() };
  });

  describe('beside the embedded engine', () => {
    const instance = instanceOn(url);
    const folder = mkdtempSync(join(tmpdir(), 'search-'));
    let both: readonly SearchIndex[];
    const operations = [
      putDocument(
        'notice',
        [
          passage('n1', 'Die Kündigungsfrist für Wohnungen beträgt drei Monate zum Ende eines Monats.', {
            vector: direction(1, 0.2),
            page: 1,
          }),
          passage('n2', 'Eine Kündigung der Wohnung muss schriftlich erfolgen.', {
            vector: direction(1, 0.4),
            headings: ['Form', 'Schriftlich'],
          }),
          passage('n3', 'Ausgeschlossen sind möblierte Zimmer.', { enabled: false, vector: direction(1) }),
        ],
        { name: 'Mietrecht', tagIds: ['t2', 't1', 't2'], revision: 7 },
      ),
      putDocument(
        'manual',
        [
          passage('m1', 'Backups run every night; restoring them takes an hour.', { vector: direction(0, 1) }),
          passage('m2', 'Nothing is restored without a backup.'),
        ],
        { scope: 'g' },
      ),
      putDocument(
        'log',
        [
          passage('l1', '事件日志是唯一的真相。', { vector: [0.6, 0.8] }),
          passage('l2', 'naïve café, ＦＵＬＬ width, user_name and l’été'),
        ],
        { embeddingModel: 'other', scope: 'g' },
      ),
      putDocument('plain', [passage('p1', 'No model read this.')], { embeddingModel: null, scope: 'g' }),
    ];

    beforeAll(async () => {
      both = [await instance.open(), await openSqliteSearchIndex({ folder, inThread: true })];
      for (const index of both) {
        await index.prepare('passages', 1);
        await index.swap('passages', undefined, 1);
        await new TestIndex('passages', index).apply(operations);
        await new TestIndex('passages', index).apply([
          { op: 'patchDocument', documentId: 'manual', fields: { name: 'Operations', tagIds: ['t3'], revision: 9 } },
        ]);
      }
    });
    afterAll(async () => {
      await both[1]?.close();
      await instance.destroy();
      rmSync(folder, { recursive: true });
    });

    it('holds the same whatever is done to it, in batches of any size', async () => {
      const documentId = fc.constantFrom('d1', 'd2', 'd3');
      const scope = fc.constantFrom('s:1', 's:2');
      const tagIds = fc.subarray(['t1', 't2']);
      const operation = fc.oneof(
        {
          weight: 3,
          arbitrary: fc
            .tuple(documentId, scope, tagIds, fc.array(fc.boolean(), { maxLength: 4 }), fc.nat(9))
            .map(([id, in_, tags, enabled, n]) =>
              putDocument(
                id,
                enabled.map((on, ordinal) =>
                  passage(`c${ordinal}`, `alpha ${n}`, { enabled: on, vector: direction(n, 1) }),
                ),
                { scope: in_, tagIds: tags },
              ),
            ),
        },
        {
          weight: 2,
          arbitrary: fc.record({
            op: fc.constant('patchDocument' as const),
            documentId,
            fields: fc.record(
              { name: fc.constantFrom('Notes', 'Other'), tagIds, revision: fc.nat(9) },
              { requiredKeys: [] },
            ),
          }),
        },
        { weight: 1, arbitrary: fc.record({ op: fc.constant('removeDocument' as const), documentId }) },
        { weight: 1, arbitrary: fc.record({ op: fc.constant('removeScope' as const), scope }) },
      );
      let run = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(operation, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 }),
          async (batches) => {
            run += 1;
            const digests = await Promise.all(
              both.map(async (index) => {
                await index.prepare(`any-${run}`, 1);
                let [from, handled] = [null as string | null, 0];
                for (const batch of batches) {
                  const changes = batch.map((one, n) => ({
                    position: String(handled + n + 1).padStart(16, '0'),
                    operations: [one],
                  }));
                  handled += batch.length;
                  const position = String(handled).padStart(16, '0');
                  await index.apply({
                    index: `any-${run}`,
                    version: 1,
                    changes,
                    from,
                    to: { position, handled },
                    fence: 1,
                  });
                  from = position;
                }
                const [held, counted] = [
                  await index.scan(`any-${run}`, 1, null, 10),
                  await index.count(`any-${run}`, 1),
                ];
                await index.drop(`any-${run}`, 1);
                return { held, counted };
              }),
            );
            expect(digests[0]).toEqual(digests[1]);
          },
        ),
        { numRuns: 25 },
      );
    }, 300_000);

    it('holds the same, by digest', async () => {
      const [server, embedded] = await Promise.all(both.map((index) => index.scan('passages', 1, null, 100)));
      expect(server).toHaveLength(4);
      expect(server).toEqual(embedded);
    });

    it.each<readonly [string, Partial<SearchQuery>, readonly string[]]>([
      ['Kündigung Wohnung', {}, ['n2', 'n1']],
      [
        'Kündigungen von Wohnungen',
        { mode: 'hybrid', vector: { model: 'small', values: direction(1, 0.1) } },
        ['n2', 'n1', 'm1'],
      ],
      ['restored backups', {}, ['m2', 'm1']],
      ['operations', { tagIds: ['t3'] }, ['m2', 'm1']],
      ['日志', {}, ['l1']],
      ['NAIVE cafes full', {}, ['l2']],
      ['user name', {}, ['l2']],
      ['ete', {}, ['l2']],
      ['möbliert', {}, []],
      ['', { mode: 'vector', vector: { model: 'other', values: [1, 0] } }, ['l1']],
      ['who reads this', {}, ['p1']],
    ])('finds the same in the same order: %s', async (text, given, expected) => {
      const query: SearchQuery = { scopes: ['s:1', 'g'], mode: 'text', limit: 10, text, ...given };
      const [server, embedded] = await Promise.all(both.map((index) => index.search('passages', query)));
      // The engines count words alike; their BM25 differs by constants, and the embedded one knows whole documents.
      const shown = (hits: readonly SearchHit[] | undefined) => hits?.map(({ score: _score, ...hit }) => hit);
      expect(shown(server)).toEqual(shown(embedded));
      expect(server?.map(({ chunkId }) => chunkId)).toEqual(expected);
    });
  });

  it('reads umlauts that are written out', async () => {
    const instance = instanceOn(url);
    const index = new TestIndex('passages', await instance.open());
    await index.index.prepare('passages', 1);
    await index.index.swap('passages', undefined, 1);
    await index.apply([putDocument('d1', [passage('c1', 'Die Häuser an der Straße sind größer.')])]);
    expect([await index.found('Haeuser'), await index.found('groesser')]).toEqual([['c1'], ['c1']]);
    await instance.destroy();
  });

  it('reads what earlier versions wrote, and takes it away with the next put', async () => {
    const instance = instanceOn(url);
    const index = new TestIndex('passages', await instance.open());
    await index.index.prepare('passages', 1);
    await index.index.swap('passages', undefined, 1);
    const put = putDocument('d1', [passage('c1', 'alpha'), passage('c2', 'alpha'), passage('c3', 'alpha')]);
    await index.apply([put]);
    const held = await index.index.scan('passages', 1, null, 10);
    // The same in numbered slots.
    const name = `${instance.prefix}-passages-v1`;
    const get = async (id: string) => (await instance.client.get<Record<string, unknown>>({ index: name, id }))._source;
    const version = { version: 1, version_type: 'external_gte' } as const;
    for (const number of [0, 1, 2]) {
      const document = (await get(`passage:d1:000001:${number}`)) ?? {};
      await instance.client.index({ index: name, id: `passage:d1:${number}`, document, ...version });
      await instance.client.delete({ index: name, id: `passage:d1:000001:${number}`, ...version });
    }
    const { document, ...record } = (await get('document:d1')) as { document: { present: { ownIds: true } } };
    const { ownIds: _, ...present } = document.present;
    const earlier = { ...record, document: { slots: 3, present } };
    await instance.client.index({ index: name, id: 'document:d1', document: earlier, ...version });

    expect(await index.index.scan('passages', 1, null, 10)).toEqual(held);
    await index.apply([{ op: 'patchDocument', documentId: 'd1', fields: { tagIds: ['t1'] } }]);
    expect(await index.found('alpha', { tagIds: ['t1'] })).toEqual(['c1', 'c2', 'c3']);
    await index.apply([putDocument('d1', [passage('c4', 'alpha')])]);
    expect([await index.found('alpha'), await index.index.count('passages', 1)]).toEqual([
      ['c4'],
      { documents: 1, passages: 1 },
    ]);
    await instance.destroy();
  });

  it('removes a scope of more documents than one condition takes', async () => {
    const instance = instanceOn(url);
    const index = new TestIndex('passages', await instance.open());
    await index.index.prepare('passages', 1);
    await index.index.swap('passages', undefined, 1);
    const ids = Array.from({ length: 66_000 }, (_, id) => `d${id}`);
    for (let start = 0; start < ids.length; start += 11_000)
      await index.apply(ids.slice(start, start + 11_000).map((id) => putDocument(id, [])));
    await index.apply([putDocument('last', [passage('c1', 'alpha')])]);
    await index.apply([{ op: 'removeScope', scope: 's:1' }]);
    expect(await index.index.count('passages', 1)).toEqual({ documents: 0, passages: 0 });
    await instance.destroy();
  }, 300_000);
});
