import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { searchIndexContract } from '../search-index.contract';
import { direction, passage, putDocument, TestIndex } from '../test-index.contract';
import { openSqliteSearchIndex } from './sqlite-search-index';

const openIndex = (inThread: boolean) => async () => {
  const folder = mkdtempSync(join(tmpdir(), 'search-'));
  let index = await openSqliteSearchIndex({ folder, inThread });
  return {
    folder,
    index,
    reopen: async () => {
      await index.close();
      return (index = await openSqliteSearchIndex({ folder, inThread }));
    },
    destroy: async () => {
      await index.close();
      rmSync(folder, { recursive: true });
    },
  };
};

searchIndexContract('SQLite with a thread of its own', openIndex(false));
searchIndexContract('SQLite in one thread', openIndex(true));

describe('search files', () => {
  it('of an earlier version, which knew pages only, take places of every kind', async () => {
    const under = await openIndex(true)();
    await under.index.prepare('passages', 1);
    await under.index.swap('passages', undefined, 1);
    const before = new TestIndex('passages', under.index);
    await before.apply([putDocument('d1', [passage('c1', 'A backup.', { page: 7 })])]);
    await under.index.close();
    const file = 'passages-v1.sqlite';
    const db = new Database(join(under.folder, file));
    for (const column of ['slide', 'sheet', '"row"']) db.exec(`alter table passages drop column ${column}`);
    db.close();
    const index = await under.reopen();
    const after = new TestIndex('passages', index);
    await after.apply([putDocument('d2', [passage('c2', 'Backup.', { sheet: 'Costs', row: 40 })])]);
    expect(await after.search('backup')).toEqual([
      expect.objectContaining({ chunkId: 'c2', sheet: 'Costs', row: 40 }),
      expect.objectContaining({ chunkId: 'c1', page: 7 }),
    ]);
    await under.destroy();
  });

  it('hold nothing of what was removed once purged: no text, no term, no vector', async () => {
    const under = await openIndex(true)();
    await under.index.prepare('passages', 1);
    const tested = new TestIndex('passages', under.index);
    const vector = (n: number) => direction(1234.5 + n, 1);
    const fingerprint = (n: number) => Buffer.from(new Float32Array(vector(n)).buffer).subarray(0, 8);
    const filler = (n: number) => [...Array(40).keys()].map((k) => `word${(n * 31 + k * 17) % 997}`).join(' ');
    for (let round = 0; round < 10; round += 1)
      await tested.apply(
        [...Array(30).keys()]
          .map((k) => round * 30 + k)
          .map((n) =>
            putDocument(
              `d${n}`,
              [passage(`c${n}`, `Zebrasecret${n} ${filler(n)}`, { vector: vector(n), headings: [`Zebraheading${n}`] })],
              { name: `Zebraname${n}` },
            ),
          ),
      );
    const traces = [...['Zebra', 'zebra'].map((text) => Buffer.from(text)), fingerprint(3), fingerprint(297)];
    const onDisk = () =>
      traces.map((trace) =>
        readdirSync(under.folder).some((file) => readFileSync(join(under.folder, file)).includes(trace)),
      );
    expect(onDisk()).toEqual([true, true, true, true]);
    await tested.apply([...Array(150).keys()].map((n) => ({ op: 'removeDocument', documentId: `d${n * 2}` })));
    await tested.apply([{ op: 'removeScope', scope: 's:1' }]);
    await under.index.purge();
    expect(onDisk()).toEqual([false, false, false, false]);
    await under.destroy();
  });

  it('answer searches that are filtered about as fast as others', async () => {
    const under = await openIndex(true)();
    await under.index.prepare('passages', 1);
    await under.index.swap('passages', undefined, 1);
    const tested = new TestIndex('passages', under.index);
    const passages = (n: number) => [...Array(10).keys()].map((k) => passage(`c${n}-${k}`, `alpha beta w${n} w${k}`));
    await tested.apply([...Array(300).keys()].map((n) => putDocument(`d${n}`, passages(n), { tagIds: ['t1'] })));
    const timed = async (given: object): Promise<number> => {
      const took = [];
      for (let round = 0; round < 5; round += 1) {
        const begun = process.cpuUsage();
        expect(await tested.search('alpha beta w7', given)).toHaveLength(10);
        const { user, system } = process.cpuUsage(begun);
        took.push((user + system) / 1_000);
      }
      return Math.min(...took);
    };
    expect(await timed({ tagIds: ['t1'] })).toBeLessThan(10 * (await timed({})) + 10);
    await under.destroy();
  });

  it('that are damaged are named with what to do, and stop no other index', async () => {
    const under = await openIndex(false)();
    for (const version of [1, 2]) await under.index.prepare('passages', version);
    await under.index.swap('passages', undefined, 1);
    await under.index.close();
    writeFileSync(join(under.folder, 'passages-v1.sqlite'), Buffer.alloc(8192, 'no database'));
    const index = await under.reopen();
    const tested = new TestIndex('passages', index);
    expect(await index.health()).toEqual({
      ok: false,
      reason: 'passages-v1.sqlite is damaged; delete it to rebuild it from the log',
    });
    await expect(tested.search('x')).rejects.toThrow('passages-v1.sqlite is damaged');
    await index.swap('passages', 1, 2);
    expect(await tested.search('x')).toEqual([]);
    await under.destroy();
  });
});
