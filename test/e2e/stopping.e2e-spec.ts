import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../fixtures/until';
import { type Child, startChild } from './child';
import { ADMIN_KEY } from './harness';

let folder: string;
let child: Child;
let upload: ClientRequest;
let answer: Promise<IncomingMessage>;

/** A request under way, which a stop waits for. */
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'drain-'));
  child = await startChild('apps/api/src/main.ts', {
    DATA_DIR: folder,
    PORT: '0',
    LOG_LEVEL: 'info',
    BOOTSTRAP_API_KEY: ADMIN_KEY,
  });
  const body = JSON.stringify({ name: 'Guide' });
  upload = request(`${child.url}/api/v1/core/agents`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json', 'content-length': body.length },
  });
  answer = once(upload, 'response').then(([response]) => response as IncomingMessage);
  answer.catch(() => undefined);
  upload.write(body.slice(0, 3));
  // Its head has arrived once another on the same server is answered.
  await until(async () => (await fetch(`${child.url}/health/ready`)).status === 200, 'the start');
});
afterEach(async () => {
  child.kill('SIGKILL');
  await child.exited;
  rmSync(folder, { recursive: true });
});

const stopping = () => until(() => child.output().includes('Stopping.'), 'the stop');

it('a Ctrl-C that arrives twice, from the terminal and from npm, waits for what is under way', async () => {
  child.kill('SIGINT');
  child.kill('SIGINT');
  await stopping();
  child.kill('SIGINT');
  upload.end(JSON.stringify({ name: 'Guide' }).slice(3));
  expect((await answer).statusCode).toBe(201);
  expect(await child.exited).toBe(0);
}, 60_000);

it('a second Ctrl-C later on ends it at once', async () => {
  child.kill('SIGINT');
  await stopping();
  const again = setInterval(() => child.kill('SIGINT'), 300);
  const code = await child.exited;
  clearInterval(again);
  expect(code).toBe(1);
}, 60_000);
