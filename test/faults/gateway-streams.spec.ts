import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../e2e/child';
import { ownTime } from '../fixtures/own-time';
import { until } from '../fixtures/until';
import { behaves, chunk, DONE, events, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { writeModelsFile } from '../fixtures/models-file';

/** Fault 36, and clients that are slow or say nothing: what streams cost while they are held, and that nothing of them stays. */
const KEY = 'streams-test-key-0123456789-abcdefghijklmnop';
const CLIENTS = 500;
const CALLERS = 50;
/** What streams that are held may add, MB. */
const MOST_HELD = 100;
/** What clients that do not read may add, MB. */
const MOST_ADDED = 350;

let dataDir: string;
let upstream: UpstreamDouble;
let child: Child;
const sockets = new Set<Socket>();
beforeEach(async () => {
  upstream = await startUpstreamDouble();
  dataDir = mkdtempSync(join(tmpdir(), 'streams-'));
  const file = writeModelsFile(dataDir, upstream, [{ key: 'm', kind: 'chat', pricing: 'free' }]);
  child = await startChild('apps/api/src/main.ts', {
    DATA_DIR: dataDir,
    PORT: '0',
    BOOTSTRAP_API_KEY: KEY,
    LOG_LEVEL: 'error',
    MODELS_FILE: file,
  });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  child.kill('SIGKILL');
  await child.exited;
  await upstream.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const memory = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;
const files = (): number => readdirSync(`/proc/${child.pid}/fd`).length;

const chat = (body: object = {}) =>
  fetch(`${child.url}/api/compat/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }),
  });

/** Opens a connection and sends text; what comes is read unless `deaf`. */
const send = (
  text: string,
  { deaf = false, heard = () => undefined }: { deaf?: boolean; heard?: (text: string) => void } = {},
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(child.url);
    const socket = connect(Number(port), hostname, () => socket.write(text, () => resolve(socket)));
    sockets.add(socket);
    if (deaf) socket.pause();
    else socket.on('data', (piece: Buffer) => heard(piece.toString()));
    socket.on('error', reject);
  });

const streamedBy = (key: string): string => {
  const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] });
  return `POST /api/compat/v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
};
const streamed = streamedBy(KEY);

/** Keys of users of their own. */
const keysOfOthers = async (count: number): Promise<readonly string[]> => {
  const post = async (path: string, body: object): Promise<Readonly<Record<string, string>>> => {
    const answer = await fetch(`${child.url}/api/v1/core${path}`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(201);
    return (await answer.json()) as Readonly<Record<string, string>>;
  };
  const keys = Array.from({ length: count }, async (_, index) => {
    const { id: userId } = await post('/users', {
      email: `reader${index}@example.com`,
      name: `Reader ${index}`,
      role: 'member',
    });
    return (await post('/api-keys', { name: 'gateway', permissions: ['compat'], userId }))['secret'] as string;
  });
  return Promise.all(keys);
};

test('500 streams are held at once in little memory, and nothing of them stays when their clients leave in the middle', async () => {
  await (await chat()).text();
  const rest = memory();
  const before = files();
  const responses: ServerResponse[] = [];
  upstream.behaviour = (response) => void responses.push(events(response, chunk({ role: 'assistant', content: '' })));
  let heard = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, () =>
      send(streamed, { heard: (text) => (heard += text.split('"word"').length - 1) }),
    ),
  );
  await until(() => responses.length === CLIENTS, 'the streams');
  for (let round = 1; round <= 20; round += 1) {
    for (const response of responses) events(response, chunk({ content: 'word' }));
    await until(() => heard === round * CLIENTS, 'a word for each');
    expect(memory() - rest).toBeLessThan(MOST_HELD);
  }
  for (const socket of sockets) socket.destroy();
  await until(() => upstream.open === 0, 'the end of every call of the provider');
  await until(() => files() <= before, 'the files to be closed');
  upstream.behaviour = behaves;
  expect((await chat()).status).toBe(200);
});

test('500 clients that read nothing hold up their providers, and add little memory; others are served', async () => {
  await (await chat()).text();
  // What one caller may leave unread is bounded for itself.
  const keys = await keysOfOthers(CALLERS);
  const before = memory();
  let [written, seen] = [0, -1];
  const held = new Set<object>();
  upstream.behaviour = (response) => {
    const text = `data: ${JSON.stringify(chunk({ content: 'x'.repeat(400) }))}\n\n`;
    const fill = (): void => {
      held.delete(response);
      while (!response.destroyed && response.write(text)) written += text.length;
      held.add(response);
    };
    events(response).on('drain', fill);
    fill();
  };
  await Promise.all(
    Array.from({ length: CLIENTS }, (_, index) => send(streamedBy(keys[index % CALLERS] as string), { deaf: true })),
  );
  await until(() => upstream.calls.length === CLIENTS + 1, 'the streams');
  // Nothing tells that no provider will write any more: all are held up where nothing was written between two looks.
  const halted = (): boolean => seen === (seen = written) && held.size === CLIENTS;
  await until(halted, 'the halt of every provider', { every: 500 });
  expect(memory() - before).toBeLessThan(MOST_ADDED);
  upstream.behaviour = behaves;
  expect((await chat()).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  await until(() => upstream.open === 0, 'the end of every call of the provider');
});

test('a thousand connections that say nothing, or only half of what they want, keep nobody waiting', async () => {
  await Promise.all(
    Array.from({ length: 1_000 }, (_, index) =>
      send(index % 2 === 0 ? '' : streamed.slice(0, streamed.length - 20 - (index % 200))),
    ),
  );
  upstream.behaviour = (response) => void events(response, chunk({ content: 'a' }), chunk({}, 'stop'), DONE).end();
  for (let call = 0; call < 50; call += 1) {
    const took = ownTime();
    expect((await (await chat({ stream: true })).text()).endsWith(DONE)).toBe(true);
    // Who waited for one of them would wait for minutes.
    expect(took()).toBeLessThan(20_000);
  }
  expect(upstream.calls).toHaveLength(50);
});
