import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../e2e/child';
import { until } from '../fixtures/until';
import { behaves, chunk, events, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { writeModelsFile } from '../fixtures/models-file';

/** Faults 42 and 43: too few files, and a main loop that stands still. */
const KEY = 'overload-test-key-0123456789-abcdefghijklmnop';
const BLOCK_MS = 5_000;

let dataDir: string;
let upstream: UpstreamDouble;
let child: Child;
beforeEach(async () => {
  upstream = await startUpstreamDouble();
  dataDir = mkdtempSync(join(tmpdir(), 'overload-'));
  writeModelsFile(dataDir, upstream, [{ key: 'm', kind: 'chat', pricing: 'free' }]);
});
afterEach(async () => {
  child.kill('SIGKILL');
  await child.exited;
  await upstream.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const start = async (limits: Parameters<typeof startChild>[2] = {}): Promise<void> => {
  child = await startChild(
    'apps/api/src/main.ts',
    {
      DATA_DIR: dataDir,
      PORT: '0',
      BOOTSTRAP_API_KEY: KEY,
      LOG_LEVEL: 'error',
      MODELS_FILE: join(dataDir, 'models.json'),
    },
    limits,
  );
};
/** Of the product: each view has five. */
const openFiles = (): number => readdirSync(`/proc/${child.pid}/fd`).length;
const chatCall = (body: object) => ({
  url: `${child.url}/api/compat/v1/chat/completions`,
  headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }),
});
const chat = () => {
  const { url, ...call } = chatCall({});
  return fetch(url, { method: 'POST', ...call, signal: AbortSignal.timeout(30_000) });
};
const addSpace = async (name: string): Promise<number> =>
  (
    await fetch(`${child.url}/api/v1/core/spaces`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    })
  ).status;

test('with few files, callers beyond what can be served get 503 or no connection; writes go on, and all is well when they have left', async () => {
  await start();
  const atRest = openFiles();
  child.kill('SIGKILL');
  await child.exited;
  await start({ openFiles: atRest + 80 });
  upstream.behaviour = (response) => void events(response, chunk({ content: 'a' }));
  const asked: ClientRequest[] = [];
  const outcomes = await Promise.all(
    Array.from(
      { length: 300 },
      () =>
        new Promise<string>((resolve) => {
          const { url, headers, body } = chatCall({ stream: true });
          const call = request(url, { method: 'POST', headers, agent: false }, ({ statusCode, headers: given }) =>
            resolve(`${statusCode} ${given['retry-after'] ?? ''}`),
          );
          asked.push(call.on('error', () => resolve('no connection')).end(body));
        }),
    ),
  );
  const others = outcomes.filter((outcome) => outcome !== '200 ');
  expect(others.length).toBeGreaterThan(0);
  expect(others.length).toBeLessThan(outcomes.length);
  // Which depends on whether the last file goes to a caller or to the call of the provider.
  expect(others.filter((outcome) => outcome !== 'no connection' && !/^503 \d+$/.test(outcome))).toEqual([]);
  for (const call of asked) call.destroy();
  upstream.behaviour = behaves;
  await until(
    async () =>
      (await chat().then(
        ({ status }) => status,
        () => 0,
      )) === 200,
    'an answer',
  );
  await until(async () => (await addSpace('After').catch(() => 0)) === 201, 'a write');
  await until(() => openFiles() < atRest + 30, 'the files to be closed');
});

test('a main loop that stands still for five seconds: not alive meanwhile, then 503 for those who waited, then as before', async () => {
  await start();
  expect((await chat()).status).toBe(200);
  child.kill('SIGSTOP');
  const stoppedAt = performance.now();
  const waiting = Array.from({ length: 20 }, () => chat());
  await expect(fetch(`${child.url}/health/live`, { signal: AbortSignal.timeout(BLOCK_MS) })).rejects.toThrow(/timeout/);
  expect(performance.now() - stoppedAt).toBeGreaterThanOrEqual(BLOCK_MS);
  const calls = upstream.calls.length;
  child.kill('SIGCONT');
  const answers = await Promise.all(waiting);
  expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(
    answers.map(() => [503, '1']),
  );
  expect(upstream.calls).toHaveLength(calls);
  expect((await fetch(`${child.url}/health/live`)).status).toBe(200);
  await until(async () => (await chat()).status === 200, 'an answer');
});
