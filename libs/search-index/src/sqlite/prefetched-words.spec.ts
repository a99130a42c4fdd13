import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SearchIndex } from '../search-index';
import { passage, putDocument, TestIndex } from '../test-index.contract';
import { openSqliteSearchIndex } from './sqlite-search-index';
import { Bm25TextSearch } from './bm25-text-search';

const query = { scopes: ['s:1'], text: 'ferry', mode: 'hybrid', limit: 8 } as const;
const vector = { model: 'test', values: [1, 0] };

let folder: string;
let index: SearchIndex;
let tested: TestIndex;
const looksUp = jest.spyOn(Bm25TextSearch.prototype, 'find');
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'search-'));
  index = await openSqliteSearchIndex({ folder, inThread: true });
  await index.prepare('passages', 1);
  await index.swap('passages', undefined, 1);
  tested = new TestIndex('passages', index);
  await tested.apply([putDocument('d1', [passage('c1', 'A ferry.')])]);
  looksUp.mockClear();
});
afterEach(async () => {
  await index.close();
  rmSync(folder, { recursive: true });
});
const found = async (more: object = {}) =>
  (await index.search('passages', { ...query, vector, ...more })).map(({ chunkId }) => chunkId);

it('are looked up once for a query whose vector follows', async () => {
  await index.prefetch?.('passages', query);
  expect([await found(), looksUp.mock.calls.length]).toEqual([['c1'], 1]);
  expect([await found(), looksUp.mock.calls.length]).toEqual([['c1'], 2]);
});

it('are looked up again where the index changed meanwhile', async () => {
  await index.prefetch?.('passages', query);
  await tested.apply([putDocument('d2', [passage('c2', 'The ferry of the ferry.')])]);
  expect(await found()).toEqual(expect.arrayContaining(['c1', 'c2']));
  await index.prefetch?.('passages', query);
  await tested.apply([{ op: 'removeDocument', documentId: 'd1' }]);
  expect(await found()).toEqual(['c2']);
});

it('are looked up again where another connection wrote', async () => {
  await index.prefetch?.('passages', query);
  const other = await openSqliteSearchIndex({ folder, inThread: true });
  await new TestIndex('passages', other).apply([{ op: 'removeDocument', documentId: 'd1' }]);
  await other.close();
  expect(await found()).toEqual([]);
});

it.each([
  ['words', { text: 'cargo' }, []],
  ['scopes', { scopes: ['s:other'] }, []],
  ['documents to pass over', { exceptDocumentIds: ['d1'] }, []],
  ['tags', { tagIds: ['t1'] }, []],
  ['a limit', { limit: 1 }, ['c1']],
])('are of a query with the same words, scopes and filters: not with other %s', async (_, other, expected) => {
  await index.prefetch?.('passages', query);
  expect(await found(other)).toEqual(expected);
});

it.each([
  ['this', async () => undefined],
  ['another', async () => openSqliteSearchIndex({ folder, inThread: true })],
])('of documents of a tag are those that have it now, where %s connection tagged others', async (_, open) => {
  const tags = async (documentId: string, ...tagIds: readonly string[]) => {
    const other = await open();
    const written = other === undefined ? tested : new TestIndex('passages', other);
    await written.apply([{ op: 'patchDocument', documentId, fields: { tagIds } }]);
    await other?.close();
  };
  await tested.apply([putDocument('d2', [passage('c2', 'Another ferry.')])]);
  const tagged = () => found({ tagIds: ['t1'] });
  expect(await tagged()).toEqual([]);
  await tags('d1', 't1');
  expect([await tagged(), await tagged()]).toEqual([['c1'], ['c1']]);
  await tags('d2', 't1');
  expect((await tagged()).toSorted()).toEqual(['c1', 'c2']);
  await tags('d1');
  expect(await tagged()).toEqual(['c2']);
});

it('of an index that is not there are not looked up', async () => {
  await expect(index.prefetch?.('others', query)).rejects.toThrow(/no live version/);
});
