import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../fixtures/until';
import { type Child, startChild } from './child';
import { ADMIN_KEY } from './harness';

/** Sends the process a second SIGINT at once, as npm does. */
const asNpm = { NODE_OPTIONS: `--require ${join(__dirname, '..', 'fixtures', 'npm-signal.cjs')}` };

let folder: string;
let child: Child;
let upload: ClientRequest;
let answer: Promise<IncomingMessage>;

/** A request under way, which a stop waits for. */
const begin = async (environment: Readonly<Record<string, string>> = {}): Promise<void> => {
  folder = mkdtempSync(join(tmpdir(), 'drain-'));
  child = await startChild('apps/api/src/main.ts', {
    DATA_DIR: folder,
    PORT: '0',
    LOG_LEVEL: 'info',
    BOOTSTRAP_API_KEY: ADMIN_KEY,
    ...environment,
  });
  const body = JSON.stringify({ name: 'Guide' });
  upload = request(`${child.url}/api/v1/core/agents`, {
    method: 'POST',
    headers: {
      'x-api-key': ADMIN_KEY,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    },
  });
  answer = once(upload, 'response').then(([response]) => response as IncomingMessage);
  answer.catch(() => undefined);
  upload.flushHeaders();
  await once(upload, 'continue');
  upload.write(body.slice(0, 3));
};
afterEach(async () => {
  child.kill('SIGKILL');
  await child.exited;
  rmSync(folder, { recursive: true });
});

const stopping = () => until(() => child.output().includes('Stopping.'), 'the stop');

it('a Ctrl-C that arrives twice, from the terminal and from npm, waits for what is under way', async () => {
  await begin(asNpm);
  child.kill('SIGINT');
  await stopping();
  await until(() => child.output().includes('The signal came twice.'), 'the second signal');
  upload.end(JSON.stringify({ name: 'Guide' }).slice(3));
  expect((await answer).statusCode).toBe(201);
  expect(await child.exited).toBe(0);
});

it('a second Ctrl-C later on ends it at once', async () => {
  await begin();
  child.kill('SIGINT');
  await stopping();
  const again = setInterval(() => child.kill('SIGINT'), 300);
  const code = await child.exited;
  clearInterval(again);
  expect(code).toBe(1);
});
