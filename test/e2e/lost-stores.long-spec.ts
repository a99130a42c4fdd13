import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeLogger } from '@app/http';
import Database from 'better-sqlite3';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

const SPACES = '/api/v1/core/spaces';
const folder = mkdtempSync(join(tmpdir(), 'lost-'));
const dataDir = join(folder, 'data');

let platform: TestPlatform | undefined;
const start = async (logger = makeLogger('silent'), at = dataDir): Promise<TestPlatform> =>
  (platform = await startTestPlatform({ dataDir: at, logger }));
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
});

test('files that were lost are told of at the start, and those that were removed are not missed', async () => {
  const lines: string[] = [];
  const logger = () => makeLogger('error', { write: (line) => void lines.push(line) });
  const at = join(folder, 'files');
  const { call } = await start(logger(), at);
  const space = await call<{ id: string }>(SPACES, { method: 'POST', body: { name: 'Files' } });
  const agent = await call<{ id: string }>('/api/v1/core/agents', {
    method: 'POST',
    body: { spaceId: space.body.id, name: 'Guide' },
  });
  const documents = `/api/v1/core/knowledge/${agent.body.id}/documents`;
  const body = { name: 'a.txt', mimeType: 'text/plain', content: 'Keys rotate.' };
  const { status, body: made } = await call<{ id: string }>(documents, { method: 'POST', body });
  expect(status).toBe(202);
  await until(
    async () => (await call<{ status: string }>(`${documents}/${made.id}`)).body.status === 'Ready',
    'the document to be ready',
  );
  await stop();
  expect(lines).toEqual([]);

  rmSync(join(at, 'blobs'), { recursive: true });
  const again = await start(logger(), at);
  await until(async () => lines.length > 0, 'the loss to be told');
  expect(lines.join()).toContain('The log names files, but none is stored');
  type Health = { status: string; dependencies: { blobs: { ok: boolean; reason?: string } } };
  const blobsOf = async ({ call: ask }: TestPlatform) => (await ask<Health>('/health')).body.dependencies.blobs;
  expect(await blobsOf(again)).toEqual({ ok: false, reason: 'the log names files, but none is stored' });
  expect((await again.call(`${documents}/${made.id}`, { method: 'DELETE' })).status).toBe(204);
  await stop();
  lines.length = 0;
  const once = await start(logger(), at);
  expect((await once.call('/api/v1/operations/blobs/sweep', { method: 'POST' })).body).toMatchObject({ blobs: 0 });
  expect([lines, await blobsOf(once)]).toEqual([[], { ok: true }]);
});

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
});

test('a view that is damaged beside the file that coordinates is rebuilt under a number of its own, and the next start finds it', async () => {
  const name = 'Lighthouse';
  const at = join(folder, 'young');
  const begin = () => start(undefined, at);
  await (await begin()).call(SPACES, { method: 'POST', body: { name } });
  await stop();
  const views = join(at, 'views');
  const served = readdirSync(views).find((file) => /^spaces-v\d+\.sqlite$/.test(file)) as string;
  for (const file of ['state.sqlite', served]) writeFileSync(join(views, file), 'no database'.repeat(1_000));

  const isServed = async ({ call }: TestPlatform) => {
    const { body } = await call<{ items?: { name: string }[] }>(SPACES);
    return body.items?.some((space) => space.name === name) === true;
  };
  await begin();
  await until(() => isServed(platform as TestPlatform), 'the damaged view to be rebuilt');
  await stop();
  const rebuilt = readdirSync(views).filter((file) => /^spaces-v\d+\.sqlite$/.test(file));
  expect(rebuilt).toEqual([expect.not.stringMatching(served)]);
  expect(await isServed(await begin())).toBe(true);
  await stop();

  // As a program before this one left it, which could not start again.
  const version = Number(/\d+/.exec(rebuilt[0] as string)?.[0]);
  const state = new Database(join(views, 'state.sqlite'));
  const record = { fence: 1, from: version, goal: null, reason: 'damaged', state: 'failed', swap: true, version };
  state.prepare('insert into state(key, value) values (?, ?)').run('rebuild/spaces', JSON.stringify(record));
  state.close();
  expect(await isServed(await begin())).toBe(true);
});
