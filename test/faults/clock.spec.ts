import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../e2e/child';
import { until } from '../fixtures/until';
import { startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { writeModelsFile } from '../fixtures/models-file';

/** Faults 29 and 30: a clock that jumps, forwards and back, and windows over a change of summer time. */
const KEY = 'clock-test-key-0123456789-abcdefghijklmnop';
const DAY_MS = 24 * 60 * 60_000;
/** Less than a call of the double costs (35,400 nano-units): the first call of a window passes, and the next is rejected. */
const AMOUNT = '0.00003';
const COST = '0.0000354';

let dataDir: string;
let upstream: UpstreamDouble;
let child: Child;
beforeEach(async () => {
  upstream = await startUpstreamDouble();
  dataDir = mkdtempSync(join(tmpdir(), 'clock-'));
  const pricing = { currency: 'USD', input: '1', output: '2' };
  writeModelsFile(dataDir, upstream, [{ key: 'm', kind: 'chat', pricing }]);
});
afterEach(async () => {
  child.kill('SIGKILL');
  await child.exited;
  await upstream.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const clock = (): string => join(dataDir, 'clock');
const start = async (time: string): Promise<void> => {
  writeFileSync(clock(), String(Date.parse(time) - Date.now()));
  const shifted = join(__dirname, 'clock', 'shifted.cjs');
  child = await startChild('apps/api/src/main.ts', {
    DATA_DIR: dataDir,
    PORT: '0',
    BOOTSTRAP_API_KEY: KEY,
    LOG_LEVEL: 'error',
    MODELS_FILE: join(dataDir, 'models.json'),
    CLOCK_SHIFT: clock(),
    NODE_OPTIONS: `--require ${shifted}`,
  });
};

const call = async (path: string, body?: object, key = KEY) => {
  const response = await fetch(child.url + path, {
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
};
const jumpTo = async (time: string): Promise<void> => {
  writeFileSync(clock(), String(Date.parse(time) - Date.now()));
  child.kill('SIGUSR2');
  await until(() => !existsSync(clock()), 'the jump');
};
const chat = async (key = KEY): Promise<number> =>
  (await call('/api/compat/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }, key))
    .status;
const limitOf = async (window: object): Promise<string> =>
  String(
    (await call('/api/v1/core/cost-control', { scope: { type: 'instance' }, amount: AMOUNT, ...window })).body['id'],
  );
const state = async (limitId: string) => {
  const { spent, held, windowStart } = (await call(`/api/v1/core/cost-control/${limitId}`)).body;
  return { spent, held, windowStart };
};
const settled = (limitId: string) => until(async () => (await state(limitId)).held === '0', 'the settlement');

test('a clock that jumps resets each window once, keeps what was spent, and stops nothing', async () => {
  await start('2026-05-13T12:00:00Z');
  const limitId = await limitOf({ window: 'day' });
  const issued = await call('/api/v1/core/api-keys', {
    name: 'short',
    agentIds: [],
    allAgents: true,
    permissions: ['compat'],
    expiresAt: '2026-05-13T13:00:00Z',
  });
  const short = String(issued.body['secret']);
  expect(await chat(short)).toBe(200);
  await settled(limitId);
  for (const time of ['2026-05-13T12:05:00Z', '2026-05-13T11:55:00Z']) {
    await jumpTo(time);
    expect(await chat()).toBe(429);
    expect(await state(limitId)).toEqual({ spent: COST, held: '0', windowStart: '2026-05-13T00:00:00.000Z' });
  }
  await jumpTo('2026-05-14T12:00:00Z');
  expect(await chat(short)).toBe(401);
  expect(await chat()).toBe(200);
  await settled(limitId);
  expect(await chat()).toBe(429);
  // Back, and on again: neither day begins anew.
  for (const time of ['2026-05-13T12:00:00Z', '2026-05-14T12:00:00Z']) {
    await jumpTo(time);
    expect(await chat()).toBe(429);
  }
  await jumpTo('2027-06-17T12:00:00Z');
  expect(await chat()).toBe(200);
  await settled(limitId);
  expect(await state(limitId)).toEqual({ spent: COST, held: '0', windowStart: '2027-06-17T00:00:00.000Z' });

  expect((await call('/api/v1/core/spaces', { name: 'Later' })).status).toBe(201);
  const { items } = (await call('/api/v1/audit/events')).body as { items: { position: string }[] };
  const positions = items.map(({ position }) => position);
  expect(positions.length).toBeGreaterThan(20);
  expect(positions).toEqual(positions.toSorted().toReversed());
  await until(
    async () =>
      ((await call('/health')).body as { projections: { lagEvents: number }[] }).projections.every(
        ({ lagEvents }) => lagEvents === 0,
      ),
    'the views',
  );
});

test('a start on a clock that was set back behind the log is told in health, and serves', async () => {
  await start('2026-05-13T12:00:00Z');
  expect((await call('/api/v1/core/spaces', { name: 'Before' })).status).toBe(201);
  const health = async () =>
    (await call('/health')).body as { status: string; dependencies: Record<string, { ok: boolean; reason?: string }> };
  expect((await health()).dependencies['clock']).toEqual({ ok: true });
  child.kill('SIGKILL');
  await child.exited;
  await start('2026-05-13T11:00:00Z');
  expect((await call('/api/v1/core/spaces', { name: 'Behind' })).status).toBe(201);
  expect(await health()).toMatchObject({
    status: 'degraded',
    dependencies: { clock: { ok: false, reason: expect.stringMatching(/^3[56]\d\d s behind the last events/) } },
  });
  await jumpTo('2026-05-13T12:01:00Z');
  expect((await health()).dependencies['clock']).toEqual({ ok: true });
});

test('a day of 25 hours, and the week that holds it, are one window each', async () => {
  await start('2026-10-24T21:59:00Z');
  const zone = { timeZone: 'Europe/Berlin' };
  const dayId = await limitOf({ ...zone, window: 'day' });
  const weekId = await limitOf({ ...zone, window: 'week', amount: '1' });
  const steps: [time: string, status: number][] = [
    ['2026-10-24T21:59:30Z', 200],
    ['2026-10-24T22:01:00Z', 200],
    ['2026-10-25T00:30:00Z', 429],
    // 24 hours after the day began it goes on.
    ['2026-10-25T22:30:00Z', 429],
    ['2026-10-25T23:01:00Z', 200],
  ];
  for (const [time, status] of steps) {
    await jumpTo(time);
    expect([time, await chat()]).toEqual([time, status]);
    await settled(dayId);
    await settled(weekId);
  }
  expect(await state(dayId)).toEqual({ spent: COST, held: '0', windowStart: '2026-10-25T23:00:00.000Z' });
  await jumpTo('2026-10-25T22:59:00Z');
  expect(await state(weekId)).toMatchObject({ windowStart: '2026-10-18T22:00:00.000Z' });
  await jumpTo(new Date(Date.parse('2026-10-25T23:01:00Z') + DAY_MS).toISOString());
  expect(await state(weekId)).toEqual({ spent: COST, held: '0', windowStart: '2026-10-25T23:00:00.000Z' });
});
