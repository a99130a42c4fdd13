import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startTestPlatform, type TestPlatform } from '../e2e/harness';
import { until } from '../fixtures/until';

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly view?: string;
}

let folder: string;
let lines: Line[] = [];
const start = () =>
  startTestPlatform({
    dataDir: folder,
    logger: pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) }),
  });
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'view-damage-'));
  lines = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

const fileOf = (store: 'views' | 'search', view: string): string =>
  join(
    folder,
    store,
    readdirSync(join(folder, store))
      .filter((name) => name.startsWith(`${view}-v`) && name.endsWith('.sqlite'))
      .at(-1) as string,
  );
const spacesIn = async (platform: TestPlatform) => platform.call<{ items: { name: string }[] }>('/api/v1/core/spaces');
const rebuildOf = async (platform: TestPlatform, view: string) =>
  (await platform.call<{ state: string; version: number; rebuild?: object }>(`/api/v1/operations/projections/${view}`))
    .body;
const reports = (view: string) => lines.filter((line) => line.level >= 50 && line.view === view);

/** The file of a view, in ways in which it cannot be used. */
const HARM: Readonly<Record<string, (file: string) => void>> = {
  'no database': (file) => writeFileSync(file, Buffer.alloc(12_000, 'damage')),
  empty: (file) => writeFileSync(file, ''),
  'cut off': (file) => writeFileSync(file, readFileSync(file).subarray(0, 5_000)),
  gone: (file) => rmSync(file),
  'a folder': (file) => {
    rmSync(file);
    mkdirSync(file);
  },
  ...(process.getuid?.() === 0 ? {} : { 'not ours to read': (file: string) => chmodSync(file, 0) }),
};

/** A view is thrown away and filled again from the log, whatever happened to its file. */
describe.each(Object.keys(HARM))('a file that is %s at a start', (kind) => {
  it('is set aside, reported once, and the view is built anew from the log', async () => {
    let platform = await start();
    const created = await platform.call<{ id: string }>('/api/v1/core/spaces', {
      method: 'POST',
      body: { name: 'Survivor' },
    });
    await platform.stop({ keep: true });
    lines = [];
    for (const [store, view] of [
      ['views', 'spaces'],
      ['search', 'passages'],
    ] as const) {
      const file = fileOf(store, view);
      for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
      HARM[kind]?.(file);
    }
    platform = await start();
    await until(
      async () => (await platform.call(`/api/v1/core/spaces/${created.body.id}`)).status === 200,
      'the Space in its view',
    );
    await until(async () => (await rebuildOf(platform, 'passages')).state === 'live', 'the search index');
    expect((await spacesIn(platform)).body.items).toHaveLength(2);
    expect((await platform.call('/health')).body).toMatchObject({
      dependencies: { readStore: { ok: true }, searchIndex: { ok: true } },
    });
    for (const view of ['spaces', 'passages'])
      expect([view, reports(view).length]).toEqual([view, kind === 'gone' || kind === 'empty' ? 0 : 1]);
    await platform.stop({ keep: true });
  });
});

describe('a file that is damaged while the product runs', () => {
  const damage = (file: string): void => {
    const bytes = readFileSync(file);
    // All but the first page: what opens it finds nothing wrong.
    bytes.fill(0xff, 4096);
    for (const suffix of ['-wal']) if (existsSync(file + suffix)) writeFileSync(file + suffix, '');
    writeFileSync(file, bytes);
  };

  it.each(['is read', 'is written'])(
    'stops nothing else when it %s, is reported once, and is built anew; a purge removes what was set aside',
    async (use) => {
      const platform = await start();
      for (let space = 0; space < 40; space += 1)
        await platform.call('/api/v1/core/spaces', {
          method: 'POST',
          body: { name: `Space ${space}`, description: 'x'.repeat(900) },
        });
      await platform.platform.host.stores.readStore.purge();
      lines = [];
      damage(fileOf('views', 'spaces'));
      const statuses = new Set<number>();
      let limit = 0;
      if (use === 'is written') await platform.call('/api/v1/core/spaces', { method: 'POST', body: { name: 'Later' } });
      await until(async () => {
        if (use === 'is read')
          statuses.add((await platform.call(`/api/v1/core/spaces?limit=${(limit = (limit % 100) + 1)}`)).status);
        statuses.add((await platform.call('/api/v1/core/agents')).status);
        return (await rebuildOf(platform, 'spaces')).version > 1;
      }, 'another build');
      expect([...statuses].filter((status) => status !== 503)).toEqual([200]);
      const expected = use === 'is written' ? 42 : 41;
      await until(
        async () =>
          (await platform.call<{ items: object[] }>('/api/v1/core/spaces?limit=100')).body.items?.length === expected,
        'every Space',
      );
      expect(reports('spaces')).toHaveLength(1);
      expect(lines.filter(({ level, view }) => level >= 40 && view === 'spaces')).toHaveLength(2);
      expect(readdirSync(join(folder, 'views')).filter((name) => name.endsWith('.damaged'))).not.toEqual([]);
      await platform.platform.host.stores.readStore.purge();
      expect(readdirSync(join(folder, 'views')).filter((name) => name.endsWith('.damaged'))).toEqual([]);
      await platform.stop({ keep: true });
    },
  );
});

it.each(['serves the build before where the one that is served is', 'goes on without the build before where that is'])(
  'a view with a way back %s damaged',
  async (kind) => {
    let platform = await start();
    await platform.call('/api/v1/core/spaces', { method: 'POST', body: { name: 'Survivor' } });
    await platform.call('/api/v1/operations/projections/spaces/rebuild', { method: 'POST', body: { swap: true } });
    await until(
      async () =>
        (await platform.call<{ rebuild?: { state: string } }>('/api/v1/operations/projections/spaces')).body.rebuild
          ?.state === 'swapped',
      'the swap',
    );
    await platform.stop({ keep: true });
    const isServed = kind.startsWith('serves');
    HARM['no database']?.(isServed ? fileOf('views', 'spaces') : join(folder, 'views', 'spaces-v1.sqlite'));
    platform = await start();
    await until(
      async () => (await rebuildOf(platform, 'spaces')).rebuild === undefined,
      'the end of what stands beside',
    );
    expect((await spacesIn(platform)).body.items).toHaveLength(2);
    expect(await rebuildOf(platform, 'spaces')).toMatchObject({ version: isServed ? 1 : 2 });
    expect(reports('spaces')).toHaveLength(1);
    await platform.stop({ keep: true });
  },
);
