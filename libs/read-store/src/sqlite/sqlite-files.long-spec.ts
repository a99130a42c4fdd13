import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operation, ReadStore } from '../read-store';
import { openSqliteReadStore, type SqliteReadStoreOptions } from './sqlite-read-store';

let folder: string;
const opened: ReadStore[] = [];
const open = async (options: Omit<SqliteReadStoreOptions, 'folder'> = {}): Promise<ReadStore> => {
  const store = await openSqliteReadStore({ folder, ...options });
  opened.push(store);
  return store;
};
const put = (key: string, text: string): Operation => ({ op: 'put', key, row: { text, group: 'g' } });
const write = (store: ReadStore, number: number, operations: readonly Operation[], version = 1): Promise<void> =>
  store.commit({
    view: 'notes',
    version,
    from: number === 1 ? null : String(number - 1),
    to: { position: String(number), handled: number },
    fence: 1,
    changes: [{ position: String(number), operations }],
  });
const prepared = async (store: ReadStore, version = 1): Promise<ReadStore> => {
  await store.prepare({
    name: 'notes',
    version,
    indexes: [{ name: 'by-group', fields: [{ field: 'group' }, { field: 'text' }] }],
  });
  return store;
};
const onDisk = (text: string): readonly string[] =>
  readdirSync(folder).filter((file) => readFileSync(join(folder, file)).includes(text));

/** Commits batches of 100 rows for ever and says so after the third. */
const ENDLESS_WRITER = `
  const { openSqliteReadStore } = require('@app/read-store');
  void (async () => {
    const store = await openSqliteReadStore({ folder: process.argv[1] });
    for (let n = 1; ; n += 1) {
      const operations = Array.from({ length: 100 }, (_, k) => ({ op: 'put', key: 'k' + k, row: { batch: String(n) } }));
      const from = n === 1 ? null : String(n - 1);
      await store.commit({ view: 'notes', version: 1, from, to: { position: String(n), handled: n }, fence: 1, changes: [{ position: String(n), operations }] });
      if (n === 3) console.log('working');
    }
  })();`;

beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'views-'))));
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
  rmSync(folder, { recursive: true });
});

describe('view files', () => {
  it('hold nothing of what was deleted once purged, in no file and not in the log', async () => {
    const store = await prepared(await open());
    const rows = [...Array(400).keys()].map((n) =>
      put(`k${(n * 7919) % 400}`, `SECRET-${n} ${'long text '.repeat(n % 60)}`),
    );
    await write(store, 1, rows);
    await write(
      store,
      2,
      rows.map((_, n): Operation =>
        n % 3 === 0
          ? { op: 'remove', key: `k${n}` }
          : { op: 'patch', key: `k${n}`, fields: { text: { erased: true } } },
      ),
    );
    expect(onDisk('SECRET-')).not.toEqual([]);
    await store.purge();
    expect(onDisk('SECRET-')).toEqual([]);
  });

  it('are remembered by what pages hold, not by their number', async () => {
    const store = await prepared(await open());
    await store.swap('notes', undefined, 1);
    const page = (group: string) => store.find('notes', { where: { group }, limit: 50 });
    await write(
      store,
      1,
      [...Array(60).keys()].map((n): Operation => ({
        op: 'put',
        key: `k${n}`,
        row: { group: `g${n}`, text: `${n} `.padEnd(800_000, 'long text ') },
      })),
    );
    const [first, again] = [await page('g0'), await page('g0')];
    expect(again).toBe(first);
    for (let n = 1; n < 60; n += 1) await page(`g${n}`);
    const later = await page('g0');
    expect([later === first, later]).toEqual([false, first]);
  });

  it('of a dropped version are deleted', async () => {
    const store = await prepared(await open());
    await write(store, 1, [put('a', 'SECRET')]);
    await store.drop('notes', 1);
    expect(readdirSync(folder).filter((file) => file.startsWith('notes'))).toEqual([]);
  });

  it('that are damaged are named with what to do, and stop nothing else', async () => {
    const before = await prepared(await prepared(await open()), 2);
    await write(before, 1, [put('a', 'x')]);
    await write(before, 1, [put('a', 'y')], 2);
    await before.close();
    writeFileSync(join(folder, 'notes-v1.sqlite'), Buffer.alloc(8192, 'no database'));
    const store = await open();
    expect(await store.health()).toEqual({
      ok: false,
      reason: 'notes-v1.sqlite is damaged; delete it to rebuild it from the log',
    });
    await expect(store.get('notes', 'a', 1)).rejects.toThrow('notes-v1.sqlite is damaged');
    await expect(write(store, 2, [put('a', 'z')])).rejects.toThrow('notes-v1.sqlite is damaged');
    expect((await store.get('notes', 'a', 2))?.row).toMatchObject({ text: 'y' });
    await store.drop('notes', 1);
    await prepared(store);
    expect([await store.health(), await store.checkpoint('notes', 1)]).toEqual([
      { ok: true },
      { position: null, handled: 0 },
    ]);
  });

  describe('of which nothing says which are live, since that file', () => {
    /** Two versions, of which the second is live and the first follows on, as after a swap, and state that takes pages. */
    const current = async (): Promise<string> => {
      const before = await prepared(await prepared(await open()), 2);
      await write(before, 1, [put('a', 'x')]);
      await write(before, 1, [put('a', 'x')], 2);
      await before.swap('notes', undefined, 1);
      await before.swap('notes', 1, 2);
      for (let n = 0; n < 200; n += 1) await before.writeState(`answer/${n}`, 'kept '.repeat(100));
      await before.purge();
      await before.close();
      return join(folder, 'state.sqlite');
    };

    it.each<[string, (file: string) => void]>([
      ['is no database', (file) => writeFileSync(file, Buffer.alloc(8192, 'no database'))],
      ['was cut off', (file) => truncateSync(file, 5_000)],
      [
        'is damaged in the middle',
        (file) => {
          const bytes = readFileSync(file);
          writeFileSync(file, bytes.fill(0xff, 3 * 4096, bytes.length - 4096));
        },
      ],
      ['cannot be read', (file) => (rmSync(file), mkdirSync(file))],
    ])('%s, are served as they stand, and that is said once', async (_what, damage) => {
      damage(await current());
      const said: string[] = [];
      const store = await open({ warn: (sentence) => void said.push(sentence) });
      expect(said).toEqual([
        expect.stringMatching(/^views\/state\.sqlite was damaged or unreadable\. .* No data is lost:/),
      ]);
      expect([await store.live('notes'), (await store.get('notes', 'a'))?.row]).toMatchObject([1, { text: 'x' }]);
      expect([await store.health(), await store.listState('')]).toEqual([{ ok: true }, []]);
      expect(await store.writeState('lease/a', { holder: 'me' }, { expected: undefined })).toBe(true);
      expect(readdirSync(folder)).toContain('state.sqlite.damaged');
      await store.close();
      const again = await open({ warn: (sentence) => void said.push(sentence) });
      expect([await again.readState('lease/a'), said.length]).toEqual([{ holder: 'me' }, 1]);
      await again.purge();
      expect(readdirSync(folder).filter((file) => file.endsWith('.damaged'))).toEqual([]);
    });

    it('is damaged, are not touched by a thread that only joins in', async () => {
      writeFileSync(await current(), Buffer.alloc(8192, 'no database'));
      await expect(open({ inThread: true })).rejects.toThrow('state.sqlite is damaged; restart to replace it');
      expect(readdirSync(folder)).not.toContain('state.sqlite.damaged');
    });
  });

  it('damaged in the middle are reported by health from the first read that meets the damage', async () => {
    const before = await prepared(await open());
    await write(
      before,
      1,
      [...Array(500).keys()].map((n) => put(`k${n}`, 'x'.repeat(300))),
    );
    await before.close();
    const file = join(folder, 'notes-v1.sqlite');
    const bytes = readFileSync(file);
    bytes.fill(0xff, 8 * 4096, bytes.length - 4096);
    writeFileSync(file, bytes);
    const store = await open();
    await expect(store.scan('notes', 1, null, 1_000)).rejects.toThrow('damaged');
    expect((await store.health()).ok).toBe(false);
  });

  it('are written by a rebuild while the live version is written, and read by others at once', async () => {
    const live = await prepared(await open());
    const rebuild = await prepared(await open({ inThread: true }), 2);
    await live.swap('notes', undefined, 1);
    await Promise.all(
      [...Array(20).keys()].map((n) =>
        Promise.all([write(live, n + 1, [put('a', `live ${n}`)]), write(rebuild, n + 1, [put('a', `new ${n}`)], 2)]),
      ),
    );
    expect([(await live.get('notes', 'a'))?.row, (await live.get('notes', 'a', 2))?.row]).toMatchObject([
      { text: 'live 19' },
      { text: 'new 19' },
    ]);
    await rebuild.swap('notes', 1, 2);
    expect((await live.get('notes', 'a'))?.row).toMatchObject({ text: 'new 19' });
    await write(rebuild, 21, [put('a', 'newest')], 2);
    expect((await live.find('notes', { where: { group: 'g' }, limit: 5 })).map(({ row }) => row['text'])).toEqual([
      'newest',
    ]);
  });

  it('dropped and made again by one thread are the new ones for the others', async () => {
    const live = await prepared(await open());
    const rebuild = await open({ inThread: true });
    await write(live, 1, [put('a', 'old')]);
    expect((await live.get('notes', 'a', 1))?.row).toMatchObject({ text: 'old' });
    await rebuild.drop('notes', 1);
    await prepared(rebuild);
    expect(await live.get('notes', 'a', 1)).toBeUndefined();
    await write(live, 1, [put('a', 'new')]);
    expect((await rebuild.get('notes', 'a', 1))?.row).toMatchObject({ text: 'new' });
  });

  it('hold whole batches only when the process is killed at work', async () => {
    await (await prepared(await open())).close();
    const writer = spawn(process.execPath, ['--require', './test/register.cjs', '-e', ENDLESS_WRITER, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(writer.stdout, 'data');
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    const store = await open();
    const { position } = (await store.checkpoint('notes', 1)) ?? {};
    const rows = await store.scan('notes', 1, null, 1_000);
    expect(Number(position)).toBeGreaterThan(0);
    expect([rows.length, new Set(rows.map(({ row }) => row['batch']))]).toEqual([100, new Set([position])]);
  });
});
