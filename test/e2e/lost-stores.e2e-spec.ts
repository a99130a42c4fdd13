import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../fixtures/until';
import { startChild } from './child';

const KEY = 'bootstrap-key-of-the-lost-0123456789-abcdefgh';
const folder = mkdtempSync(join(tmpdir(), 'lost-'));
const dataDir = join(folder, 'data');
const environment = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'error', BOOTSTRAP_API_KEY: KEY };
const start = () => startChild('apps/api/src/main.ts', environment);
const spaces = async (url: string) =>
  (await fetch(`${url}/api/v1/core/spaces`, { headers: { 'x-api-key': KEY } })).status;

afterAll(() => rmSync(folder, { recursive: true }));

test('a store that was lost is noticed at the start, and nothing is begun in its place', async () => {
  const first = await start();
  expect(await spaces(first.url)).toBe(200);
  await first.stop();
  for (const [store, sentence] of [
    ['vault', /the vault is empty: their data keys are missing/],
    ['log', /The log is empty, but the views have followed it/],
  ] as const) {
    renameSync(join(dataDir, store), join(folder, store));
    await expect(start()).rejects.toThrow(sentence);
    rmSync(join(dataDir, store), { recursive: true });
    renameSync(join(folder, store), join(dataDir, store));
  }
  const again = await start();
  expect(await spaces(again.url)).toBe(200);
  await again.stop();
}, 60_000);

test('a file that only coordinates is begun anew: what was written stands and is served, and a repeated request is decided again', async () => {
  const call = (url: string, path: string, key?: string) =>
    fetch(`${url}/api/v1/core/spaces${path}`, {
      method: key === undefined ? 'GET' : 'POST',
      headers: {
        'x-api-key': KEY,
        ...(key === undefined ? {} : { 'idempotency-key': key, 'content-type': 'application/json' }),
      },
      ...(key === undefined ? {} : { body: JSON.stringify({ name: 'Harbour' }) }),
    });
  const list = async (url: string) =>
    ((await (await call(url, '')).json()) as { items: { id: string; name: string }[] }).items;
  const first = await start();
  const { id } = (await (await call(first.url, '', 'one')).json()) as { id: string };
  await first.stop();
  for (const store of ['views', 'search'])
    writeFileSync(join(dataDir, store, 'state.sqlite'), 'no database'.repeat(1_000));

  const again = await startChild('apps/api/src/main.ts', { ...environment, LOG_LEVEL: 'warn' });
  const [repeated, spacesNow] = [await call(again.url, '', 'one'), await list(again.url)];
  expect([repeated.status, ((await repeated.json()) as { code: string }).code]).toEqual([409, 'name_taken']);
  expect(spacesNow.filter(({ name }) => name === 'Harbour').map((space) => space.id)).toEqual([id]);
  await until(async () => {
    const health = await fetch(`${again.url}/health`, { headers: { 'x-api-key': KEY } });
    const { projections } = (await health.json()) as { projections: { state: string }[] };
    return health.status === 200 && projections.length > 10 && projections.every(({ state }) => state === 'live');
  }, 'every view to be live again');
  expect((await list(again.url)).filter(({ name }) => name === 'Harbour').map((space) => space.id)).toEqual([id]);
  await again.stop();
  for (const store of ['views', 'search'])
    expect(
      again
        .output()
        .split('\n')
        .filter((line) => line.includes(`${store}/state.sqlite was damaged`)),
    ).toHaveLength(1);
}, 60_000);
