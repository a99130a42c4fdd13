import { once } from 'node:events';
import { Agent, type IncomingMessage, request, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { SlowBodies } from '@app/http';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

/** Bodies that come slowly. Minutes pass as the test says. */

const KEY_HEADER = 'x-api-key';
const MIB = 1024 ** 2;
let product: TestPlatform;
let key: string;
let userId: string;
let agentId: string;
let spaceId: string;
beforeAll(async () => {
  // So that uploads of Skills are stored as they come, as the largest are.
  product = await startTestPlatform({ listen: true, environment: { SKILL_MAX_BYTES: String(4 * MIB) } });
  ({ key, userId } = await product.newCaller({ role: 'admin' }));
  const made = async (path: string, body: object) =>
    (await product.call<{ id: string }>(`/api/v1/core${path}`, { method: 'POST', key, body })).body.id;
  spaceId = await made('/spaces', { name: 'Team' });
  agentId = await made('/agents', { spaceId, name: 'Guide' });
});
afterAll(() => product.stop());

/** A request of which a part was sent, on a connection of its own. */
class Slow {
  heard = '';
  isClosed = false;
  private readonly socket: Socket;
  /** Its other end. */
  peer: Socket | undefined;

  constructor(path: string, type: string, size: number, allowHalfOpen = false) {
    const server = product.platform.app.getHttpServer() as Server;
    server.once('connection', (peer: Socket) => (this.peer = peer));
    // It may go on behind an answer.
    this.socket = connect({ port: Number(new URL(product.url).port), host: '127.0.0.1', allowHalfOpen });
    this.socket.on('data', (bytes: Buffer) => (this.heard += bytes.toString()));
    this.socket.on('error', () => undefined).on('close', () => (this.isClosed = true));
    const lines = ['host: here', `${KEY_HEADER}: ${key}`, `content-type: ${type}`, `content-length: ${size}`];
    this.send(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  }

  send(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  /** Goes without a word. */
  end(): void {
    this.socket.destroy();
  }

  /** Bytes that the server has of it. */
  get received(): number {
    return this.peer?.bytesRead ?? 0;
  }

  get problem(): Record<string, unknown> {
    return JSON.parse(this.heard.slice(this.heard.indexOf('{'))) as Record<string, unknown>;
  }
}

const minute = (): void => {
  product.platform.app.get(SlowBodies).look(60_000);
};
const boundary = 'xyz';
const multipart = `multipart/form-data; boundary=${boundary}`;
const part = (name: string, value: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.zip"\r\n\r\n`;

it.each<[string, string, () => string, () => string]>([
  ['JSON', 'application/json', () => '/api/v1/core/spaces', () => '{"name":"'],
  ['a document', multipart, () => `/api/v1/core/knowledge/${agentId}/documents`, () => file],
  ['an attachment', multipart, () => `/api/v1/core/llm/${agentId}/files`, () => file],
  ['a Skill', multipart, () => '/api/v1/core/skills', () => part('scope', 'space') + part('spaceId', spaceId) + file],
  ['the gateway', 'application/json', () => '/api/compat/v1/chat/completions', () => '{"model":"'],
])(
  'a body of %s of which less than 64 KiB come in a minute is 408, and its connection is closed',
  async (_, type, path, begin) => {
    const slow = new Slow(path(), type, 500_000);
    slow.send(begin() + 'a'.repeat(10_000));
    await until(() => slow.received > 10_000, 'the beginning of the body');
    await until(() => {
      minute();
      return slow.isClosed;
    }, 'the end of the connection');
    expect(slow.heard).toMatch(/^HTTP\/1\.1 408 /);
    const { error, ...problem } = slow.problem;
    expect(error ?? problem).toMatchObject({ code: 'request_timeout' });
  },
);

describe.each<[string, () => string, () => string]>([
  ['a document', () => `/api/v1/core/knowledge/${agentId}/documents`, () => part('scope', 'agent') + file],
  ['an attachment', () => `/api/v1/core/llm/${agentId}/files`, () => file],
  ['a Skill', () => '/api/v1/core/skills', () => part('scope', 'space') + part('spaceId', spaceId) + file],
  [
    'Skills',
    () => '/api/v1/core/skills/import',
    () => part('scope', 'space') + part('spaceId', spaceId) + part('mode', 'create') + file,
  ],
])('of an upload of %s', (_, path, begin) => {
  const left = async () => {
    const { blobs, vault } = product.platform.host.stores;
    return [
      await blobs.list(null, 1_000),
      await vault.streams({ userId }),
      await vault.streams({ spaceId }),
      (await product.call<{ items: unknown[] }>(`/api/v1/core/knowledge/${agentId}/documents`, { key })).body.items,
    ];
  };

  it.each<[string, (slow: Slow) => unknown]>([
    ['comes too slowly', minute],
    ['breaks off', (slow) => slow.end()],
  ])('that %s, neither bytes nor key nor event stay', async (__, end) => {
    const before = await left();
    const slow = new Slow(path(), multipart, 3 * MIB);
    slow.send(begin() + 'a'.repeat(2 * MIB));
    await until(() => slow.received > 2 * MIB, 'most of the body');
    await until(() => {
      void end(slow);
      return slow.isClosed;
    }, 'the end of the connection');
    await until(async () => isDeepStrictEqual(await left(), before), 'nothing of it');
  });
});

it('a large upload over a slow line is taken, however many minutes it needs', async () => {
  const path = `/api/v1/core/knowledge/${agentId}/documents`;
  const [first, last] = [part('scope', 'agent') + file, `\r\n--${boundary}--\r\n`];
  const content = Buffer.alloc(700_000, 'word ');
  const slow = new Slow(path, multipart, first.length + content.length + last.length);
  slow.send(first);
  for (let sent = 0; sent < content.length; sent += 70_000) {
    const { received } = slow;
    slow.send(content.subarray(sent, sent + 70_000));
    await until(() => slow.received >= received + 70_000, 'a piece');
    minute();
  }
  slow.send(last);
  await until(() => slow.heard.includes('HTTP/1.1'), 'the answer');
  expect(slow.heard).toMatch(/^HTTP\/1\.1 202 /);
});

it('a request that does not come to its end in time is 408, in the form of its API, and does nothing any more', async () => {
  const body = JSON.stringify({ name: 'Late' });
  const slow = new Slow('/api/v1/core/spaces', 'application/json', body.length, true);
  slow.send(body.slice(0, 5));
  await until(() => slow.received > 0, 'the request');
  // As Node says it, a quarter of an hour later.
  const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  (product.platform.app.getHttpServer() as Server).emit('clientError', late, slow.peer);
  await until(() => slow.heard.includes('}'), 'the answer');
  expect(slow.heard).toMatch(/^HTTP\/1\.1 408 /);
  expect(slow.problem).toMatchObject({ code: 'request_timeout' });
  slow.send(body.slice(5));
  await until(() => slow.peer?.destroyed === true, 'the end of the connection');
  const { items } = (await product.call<{ items: { name: string }[] }>('/api/v1/core/spaces', { key })).body;
  expect(items.map(({ name }) => name)).not.toContain('Late');
});

it('a request may take as long as the largest upload takes over a slow line', () => {
  const { requestTimeout } = product.platform.app.getHttpServer() as Server;
  expect(requestTimeout).toBe((100 * MIB) / 32);
});

it.each<[string, () => string, () => string]>([
  ['a document', () => `/api/v1/core/knowledge/${agentId}/documents`, () => part('unknown', 'x') + file],
  ['an attachment', () => `/api/v1/core/llm/${agentId}/files`, () => file.replace('"file"', '"unknown"')],
  ['a Skill', () => '/api/v1/core/skills', () => part('scope', 'nowhere') + file],
])(
  'an upload of %s that is refused before its end keeps the next request of its connection from nothing',
  async (_, path, begin) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const asked = async (method: string, url: string, body: string) => {
      const headers = { [KEY_HEADER]: key, 'content-type': body === '' ? 'application/json' : multipart };
      const sent = request(`${product.url}${url}`, { agent, method, headers });
      sent.end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      const answer = { status: response.statusCode, port: response.socket.localPort };
      await text(response);
      return answer;
    };
    // More than is held between the connection and whoever reads.
    const large = `${begin()}${'a'.repeat(4 * MIB)}\r\n--${boundary}--\r\n`;
    const { status, port } = await asked('POST', path(), large);
    expect(status).toBe(400);
    expect(await asked('GET', '/health/live', '')).toEqual({ status: 200, port });
    agent.destroy();
  },
);
