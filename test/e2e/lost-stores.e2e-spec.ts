import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeLogger } from '@app/http';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

const SPACES = '/api/v1/core/spaces';
const folder = mkdtempSync(join(tmpdir(), 'lost-'));
const dataDir = join(folder, 'data');

let platform: TestPlatform | undefined;
const start = async (logger = makeLogger('silent')): Promise<TestPlatform> =>
  (platform = await startTestPlatform({ dataDir, logger }));
const stop = async (): Promise<void> => {
  await platform?.stop({ keep: true });
  platform = undefined;
};
afterEach(stop);
afterAll(() => rmSync(folder, { recursive: true }));

test('a store that was lost is noticed at the start, and nothing is begun in its place', async () => {
  expect((await (await start()).call(SPACES)).status).toBe(200);
  await stop();
  for (const [store, sentence] of [
    ['vault', /the vault is empty: their data keys are missing/],
    ['log', /The log is empty, but the views have followed it/],
  ] as const) {
    renameSync(join(dataDir, store), join(folder, store));
    await expect(start()).rejects.toThrow(sentence);
    rmSync(join(dataDir, store), { recursive: true });
    renameSync(join(folder, store), join(dataDir, store));
  }
  expect((await (await start()).call(SPACES)).status).toBe(200);
}, 60_000);

test('a file that only coordinates is begun anew: what was written stands and is served, and a repeated request is decided again', async () => {
  const make = ({ call }: TestPlatform) =>
    call<{ id: string; code?: string }>(SPACES, {
      method: 'POST',
      headers: { 'idempotency-key': 'one' },
      body: { name: 'Harbour' },
    });
  const harbours = async ({ call }: TestPlatform) =>
    (await call<{ items: { id: string; name: string }[] }>(SPACES)).body.items
      .filter(({ name }) => name === 'Harbour')
      .map(({ id }) => id);
  const { id } = (await make(await start())).body;
  await stop();
  for (const store of ['views', 'search'])
    writeFileSync(join(dataDir, store, 'state.sqlite'), 'no database'.repeat(1_000));

  const lines: string[] = [];
  const again = await start(makeLogger('warn', { write: (line) => void lines.push(line) }));
  const [repeated, spacesNow] = [await make(again), await harbours(again)];
  expect([repeated.status, repeated.body.code]).toEqual([409, 'name_taken']);
  expect(spacesNow).toEqual([id]);
  await until(async () => {
    const { status, body } = await again.call<{ projections: { state: string }[] }>('/health');
    return status === 200 && body.projections.length > 10 && body.projections.every(({ state }) => state === 'live');
  }, 'every view to be live again');
  expect(await harbours(again)).toEqual([id]);
  await stop();
  for (const store of ['views', 'search'])
    expect(lines.filter((line) => line.includes(`${store}/state.sqlite was damaged`))).toHaveLength(1);
}, 60_000);
