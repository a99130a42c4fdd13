import { connect } from 'node:net';
import type { ServedRoute } from '@app/http';
import { processorTime } from '../fixtures/processor-time';
import { until } from '../fixtures/until';
import { ADMIN_KEY } from '../e2e/harness';
import { documents, platform, routes, withHygiene, world } from '../e2e/hygiene-world';

withHygiene();

/** What takes any bytes as a file finds nothing wrong with them. */
const takesJson = ({ declaration: { body } }: ServedRoute): boolean => body !== undefined && body.bytes === undefined;

const exchange = (bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(Number(new URL(platform.url).port), '127.0.0.1', () => socket.write(bytes, 'latin1'));
    socket.on('data', (piece) => (received += piece.toString('latin1')));
    socket.on('close', () => resolve(received)).on('error', reject);
  });

it.each([1_000, 10_000, 100_000, 500_000, 1_000_000])(
  'a nesting of %d costs no more than to see it, on routes of any size',
  async (depth) => {
    const brackets = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const rejected = async (route: ServedRoute, payload: string): Promise<number> => {
      const startedAt = performance.now();
      expect([
        route.url,
        (await platform.call(world.path(route), { method: route.method as 'POST', payload })).status,
      ]).toEqual([route.url, 400]);
      return performance.now() - startedAt;
    };
    for (const route of routes.filter(
      (route) => takesJson(route) && (route.declaration.body?.limit ?? 0) > 2 * depth + 20,
    )) {
      let [nested, flat] = [Infinity, Infinity];
      // Beside a body of that length that is one text and ends too early, in turn: so a busy machine slows both.
      for (let time = 0; time < 3; time += 1) {
        flat = Math.min(flat, await rejected(route, `{"message":"${brackets}"`));
        nested = Math.min(nested, await rejected(route, `{"message":${brackets}}`));
      }
      expect(nested).toBeLessThan(10 * (flat + 5));
    }
  },
);

it.each([
  ['fields', '"0":0,', '{', '"x":0}', 'too_many_fields'],
  ['values', '0,', '[', '0]', 'too_many_values'],
  ['lists', '[],', '[', '0]', 'too_many_values'],
])('16 MB of %s cost no more than to see them, also under a key', async (_, piece, open, close, code) => {
  const size = 16 * 1024 ** 2;
  const rejected = async (payload: string): Promise<unknown> => {
    const { status, body } = await platform.call(`/api/v1/core/llm/${world.ids['agentId']}/conversation`, {
      method: 'POST',
      payload,
      headers: { 'content-type': 'application/json', 'idempotency-key': 'many' },
    });
    return [status, body['errors']];
  };
  let [many, flat] = [Infinity, Infinity];
  for (let time = 0; time < 3; time += 1) {
    const flatTook = processorTime();
    await rejected(`{"message":"${'x'.repeat(size)}"`);
    flat = Math.min(flat, flatTook());
    const manyTook = processorTime();
    expect(await rejected(`${open}${piece.repeat(size / piece.length)}${close}`)).toEqual([
      400,
      [expect.objectContaining({ code })],
    ]);
    many = Math.min(many, manyTook());
  }
  expect(many).toBeLessThan(10 * (flat + 5));
});

it.each([
  '__proto__=1',
  '__proto__[polluted]=1',
  'constructor[prototype][polluted]=1',
  'constructor.prototype.polluted=1',
  'toString=1',
  'limit[__proto__]=1',
])('no query adds to what every object has, or is passed over: %s', async (query) => {
  for (const route of routes.filter(({ method, url }) => method === 'GET' && url.startsWith('/api/v1/'))) {
    const { status } = await platform.call(`${world.path(route)}?${query}`);
    // A resource that is not there is told before its parameters.
    expect([route.url, status === 400 || status === 404]).toEqual([route.url, true]);
  }
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

it.each(['__proto__', 'constructor', 'prototype', 'toString', '__proto__[polluted]', 'file[__proto__]'])(
  'no part of an upload does either: %s',
  async (name) => {
    for (const part of [`name="${name}"\r\n\r\nx`, `name="${name}"; filename="a.md"\r\n\r\nx`]) {
      const payload = `--B\r\ncontent-disposition: form-data; ${part}\r\n--B\r\ncontent-disposition: form-data; name="file"; filename="a.md"\r\n\r\nwhole\r\n--B--\r\n`;
      const { status, body } = await platform.call(documents, {
        method: 'POST',
        payload,
        headers: { 'content-type': 'multipart/form-data; boundary=B' },
      });
      expect([name, status, typeof body['code']]).toEqual([name, 400, 'string']);
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  },
);

it.each([
  'text/plain',
  'application/json; charset=utf-7',
  'application/json; charset=utf-16le',
  'application/json garbage',
  'application/json\tx',
  'application/x-www-form-urlencoded',
  'application/vnd.api+json',
  'text/json',
  '',
])('no route takes a body as %j', async (type) => {
  for (const route of routes.filter(takesJson)) {
    const { status } = await platform.call(world.path(route), {
      method: route.method as 'POST',
      payload: '{}',
      headers: { 'content-type': type },
    });
    expect([route.method, route.url, status]).toEqual([route.method, route.url, 415]);
  }
});

it('JSON that poses as an upload is none, and an upload is no JSON', async () => {
  const posing = JSON.stringify({ files: { x: { filepath: '/etc/passwd' } }, file: '/etc/passwd' });
  expect(
    (
      await platform.call(documents, {
        method: 'POST',
        payload: posing,
        headers: { 'content-type': 'multipart/form-data; boundary=B' },
      })
    ).status,
  ).toBe(400);
  expect((await platform.call(documents, { method: 'POST', payload: posing })).body).toMatchObject({
    status: 400,
    code: 'unknown_field',
  });
  const upload = '--B\r\ncontent-disposition: form-data; name="file"; filename="a.md"\r\n\r\nwhole\r\n--B--\r\n';
  expect((await platform.call(documents, { method: 'POST', payload: upload })).status).toBe(400);
  for (const route of routes.filter(
    ({ declaration }) => declaration.body !== undefined && declaration.body.files === undefined,
  )) {
    expect([
      route.url,
      (
        await platform.call(world.path(route), {
          method: route.method as 'POST',
          payload: upload,
          headers: { 'content-type': 'multipart/form-data; boundary=B' },
        })
      ).status,
    ]).toEqual([route.url, 415]);
  }
});

it.each([
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xc3, 0x28, 0x22])],
  ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['an overlong slash', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
])('%s are no text, on any route', async (_, text) => {
  for (const route of routes.filter(takesJson)) {
    const { status } = await platform.call(world.path(route), {
      method: route.method as 'POST',
      payload: Buffer.concat([Buffer.from('{"name":'), text, Buffer.from('}')]),
    });
    expect([route.url, status]).toEqual([route.url, 400]);
  }
});

describe('on the wire', () => {
  const head = `POST /api/v1/core/spaces HTTP/1.1\r\nHost: x\r\nx-api-key: ${ADMIN_KEY}\r\ncontent-type: application/json\r\n`;
  const hidden = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
  const statuses = (received: string): number[] =>
    [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

  it.each([
    ['a folded header', `${head}x-folded: a\r\n b: c\r\nContent-Length: 2\r\n\r\n{}${hidden}`],
    ['a tab before the colon', `${head}Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n${hidden}`],
    ['an encoding behind another', `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden}`],
    [
      'an encoding given twice',
      `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${hidden}`,
    ],
    ['a length with a sign', `${head}Content-Length: +2\r\n\r\n{}${hidden}`],
    ['a length in hexadecimal', `${head}Content-Length: 0x2\r\n\r\n{}${hidden}`],
    ['a chunk whose size is none', `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n${hidden}`],
    ['a bare return', `GET /health/live HTTP/1.1\rHost: x\r\r${hidden}`],
    ['a NUL in a header', `GET /health/live HTTP/1.1\r\nHost: x\r\nx-a: \0\r\n\r\n${hidden}`],
  ])('%s is read in no way: nothing behind it is answered', async (_, bytes) => {
    expect(statuses(await exchange(bytes))).toEqual([400]);
  });

  it('no other protocol is gone over to', async () => {
    for (const upgrade of ['h2c', 'websocket', 'TLS/1.0']) {
      const received = await exchange(
        `GET /api/v1/core/spaces HTTP/1.1\r\nHost: x\r\nconnection: upgrade, http2-settings, close\r\nupgrade: ${upgrade}\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n\r\n`,
      );
      expect([upgrade, statuses(received).includes(101), statuses(received).length]).toEqual([upgrade, false, 1]);
    }
  });
});

test('what was sent above left the product as it was', async () => {
  expect((await platform.call('/health/live', { key: null })).body).toEqual({ status: 'up' });
  await until(async () => (await platform.call<{ status: string }>('/health')).body.status === 'up', 'health');
});
