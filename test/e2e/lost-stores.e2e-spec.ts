import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
