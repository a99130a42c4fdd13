import { connect } from 'node:net';
import type { ServedRoute } from '@app/http';
import { processorTime } from '../fixtures/processor-time';
import { wholeLog } from '../fixtures/whole-log';
import { startTestGateway, type TestGateway } from './gateway';
import { ADMIN_KEY, type TestPlatform } from './harness';
import { makeWorld, type World } from './world';

/** Credentials that are written, joined or placed in other ways than one key in its header. */

let gateway: TestGateway;
let platform: TestPlatform;
let world: World;
let secured: readonly ServedRoute[];
let compatible: readonly ServedRoute[];
beforeAll(async () => {
  gateway = await startTestGateway();
  ({ platform } = gateway);
  world = await makeWorld(platform);
  secured = platform.platform.routes.routes.filter(
    ({ declaration }) => declaration.requires !== 'public' && declaration.requires !== 'docs',
  );
  compatible = secured.filter(({ declaration }) => declaration.requires === 'compat');
});
afterAll(() => gateway.stop());

const ASKED: Readonly<Record<string, object>> = {
  '/api/compat/v1/chat/completions': { model: 'chat', messages: [{ role: 'user', content: 'Hi' }] },
  '/api/compat/v1/embeddings': { model: 'vectors', input: 'a' },
  '/api/compat/v1/rerank': { model: 'ranks', query: 'q', input: ['a'] },
};

/** What a raw request with these lines of headers is answered with. */
const statusOf = (path: string, lines: readonly string[]): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(platform.url).port), '127.0.0.1', () =>
      socket.write([`GET ${path} HTTP/1.1`, 'host: x', 'connection: close', ...lines, '', ''].join('\r\n')),
    );
    let text = '';
    socket.on('data', (piece: Buffer) => (text += piece.toString())).on('error', reject);
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1])));
  });

it('the gateway decides the same by either header, on each of its routes', async () => {
  const callers = {
    full: await platform.newCaller(),
    narrow: await platform.newCaller({ permissions: ['llm'] }),
    revoked: await platform.newCaller(),
    limited: await platform.newCaller(),
  };
  await platform.call(`/api/v1/core/api-keys/${callers.revoked.keyId}`, { method: 'DELETE' });
  await platform.call(`/api/v1/core/api-keys/${callers.limited.keyId}`, {
    method: 'PUT',
    body: { usageLimit: { amount: '0', window: 'total' } },
  });
  const expected = { full: 200, narrow: 403, revoked: 401, limited: 429 } as const;
  expect(compatible.map(({ method }) => method).toSorted()).toEqual([
    'GET',
    'GET',
    'HEAD',
    'HEAD',
    'POST',
    'POST',
    'POST',
  ]);
  for (const [name, { key }] of Object.entries(callers)) {
    for (const { method, url } of compatible.filter((route) => route.method !== 'HEAD')) {
      const send = (headers: Record<string, string>) =>
        platform.call(url.replace('*', 'chat').replace(/:\w+/, 'chat'), {
          method: method as 'GET',
          key: null,
          headers: { ...headers, 'x-request-id': 'one' },
          ...(method === 'GET' ? {} : { body: ASKED[url] }),
        });
      const [own, bearer] = [await send({ 'x-api-key': key }), await send({ authorization: `Bearer ${key}` })];
      const status = method === 'GET' && name === 'limited' ? 200 : expected[name as keyof typeof expected];
      expect([name, url, own.status, bearer.status]).toEqual([name, url, status, status]);
      if (status !== 200) expect([name, url, bearer.text]).toEqual([name, url, own.text]);
    }
  }
});

it.each([
  [
    '/api/compat/v1/models',
    (key: string, other: string) => [`authorization: Bearer ${key}`, `authorization: Bearer ${other}`],
  ],
  [
    '/api/compat/v1/models',
    (key: string, other: string) => [`authorization: Bearer ${other}`, `authorization: Bearer ${key}`],
  ],
  ['/api/compat/v1/models', (key: string) => [`authorization: Bearer ${key}`, 'authorization: Basic eDp5']],
  ['/api/compat/v1/models', (key: string, other: string) => [`x-api-key: ${key}`, `x-api-key: ${other}`]],
  ['/api/compat/v1/models', (key: string, other: string) => [`x-api-key: ${key}, ${other}`]],
  ['/api/v1/core/users/me', (key: string, other: string) => [`x-api-key: ${key}`, `x-api-key: ${other}`]],
  ['/api/v1/core/users/me', (key: string, other: string) => [`x-api-key: ${other}`, `x-api-key: ${key}`]],
])('a header that is given twice is no credential, whichever is valid: %s %#', async (path, lines) => {
  const { key } = await platform.newCaller();
  for (const other of ['ap_wrong', key, ADMIN_KEY]) expect(await statusOf(path, lines(key, other))).toBe(401);
});

it.each([
  ['in a cookie', (key: string) => ({ cookie: `x-api-key=${key}; session=${key}; __Host-session=${key}` })],
  ['as the token of an App', (key: string) => ({ svc_session_token: key, 'svc-session-token': key })],
  [
    'as a proxy would say who it is',
    (key: string) => ({
      'x-forwarded-authorization': `Bearer ${key}`,
      'x-forwarded-user': key,
      'proxy-authorization': `Bearer ${key}`,
    }),
  ],
  [
    'in words of others',
    () => ({
      'x-request-from': 'internal',
      'x-user-id': world.ids['userId'] as string,
      'x-original-url': '/health/live',
      'x-rewrite-url': '/health/live',
    }),
  ],
])('a key %s opens no route', async (_, headers) => {
  for (const route of secured) {
    const { status } = await platform.call(world.path(route), {
      method: route.method as 'GET',
      key: null,
      headers: headers(ADMIN_KEY),
    });
    expect([route.method, route.url, status]).toEqual([route.method, route.url, 401]);
  }
});

it('nobody becomes somebody else by a header', async () => {
  const { key, userId } = await platform.newCaller();
  const headers = {
    'x-request-from': 'internal',
    'x-user-id': world.ids['userId'] as string,
    'x-forwarded-user': 'admin',
    'x-original-url': '/api/v1/core/users',
    'x-rewrite-url': '/api/v1/core/users',
    svc_session_token: ADMIN_KEY,
    'x-http-method-override': 'DELETE',
    cookie: `x-api-key=${ADMIN_KEY}`,
  };
  expect(await platform.call('/api/v1/core/users/me', { key, headers })).toMatchObject({
    status: 200,
    body: { id: userId, role: 'member' },
  });
  expect(await platform.call('/api/v1/core/users', { key, headers })).toMatchObject({ status: 403 });
});

it('a key is no parameter', async () => {
  for (const query of [
    `x-api-key=${ADMIN_KEY}`,
    'x-api-key[$ne]=',
    `api_key=${ADMIN_KEY}`,
    `authorization=Bearer%20${ADMIN_KEY}`,
  ]) {
    for (const path of ['/api/v1/core/agents', '/api/compat/v1/models'])
      expect([query, path, (await platform.call(`${path}?${query}`, { key: null })).status]).toEqual([
        query,
        path,
        401,
      ]);
  }
});

it.each(["' OR '1'='1", '{"$ne":null}', '[object Object]', 'ap_', 'a'.repeat(12_000), '%00', '*'])(
  'what is written like a query is a wrong key like any other, and as quickly: %#',
  async (key) => {
    const { log } = platform.platform.host.stores;
    const reads = jest.spyOn(log, 'readStream');
    const ask = async (secret: string) => {
      reads.mockClear();
      const spent = processorTime();
      const { status, text } = await platform.call('/api/v1/core/agents', {
        key: secret,
        headers: { 'x-request-id': 'one' },
      });
      return { status, text, reads: reads.mock.calls.length, milliseconds: spent() };
    };
    const wrong = await ask('ap_wrong');
    const fastest = [await ask(key), await ask(key), await ask(key)].toSorted(
      (a, b) => a.milliseconds - b.milliseconds,
    )[0];
    reads.mockRestore();
    expect(fastest).toMatchObject({ status: 401, text: wrong.text });
    expect(fastest?.reads).toBeLessThanOrEqual(wrong.reads);
    expect(fastest?.milliseconds).toBeLessThan(50);
  },
);

const SPELLINGS: Readonly<Record<string, (path: string) => string>> = {
  'an escaped letter': (path) =>
    path.replace(
      /\/([a-z])([^/]*)$/,
      (_, first: string, rest: string) => `/%${first.charCodeAt(0).toString(16)}${rest}`,
    ),
  'a slash behind it': (path) => `${path}/`,
  'two slashes': (path) => path.replace('/v1/', '/v1//'),
  'a parameter of the path': (path) => `${path};x`,
  'a dot': (path) => path.replace('/v1/', '/v1/./'),
  'a way back': (path) => `/health/..${path}`,
  'upper case': (path) => path.toUpperCase(),
  'an escaped slash': (path) => path.replace('/v1/', '/v1%2f'),
  'an escaped way back': (path) => `/health/%2e%2e${path}`,
  'a backslash': (path) => path.replace('/v1/', '/v1\\'),
};

it.each(Object.keys(SPELLINGS))('every protected route stays so with %s in its path', async (name) => {
  for (const route of secured) {
    const path = SPELLINGS[name]?.(world.path(route)) ?? '';
    const { status } = await platform.call(path, { method: route.method as 'GET', key: null });
    expect([route.method, path, [400, 401, 404, 405].includes(status)]).toEqual([route.method, path, true]);
  }
});

it('no page of another origin is let in, and nothing is promised to a proxy', async () => {
  for (const origin of ['https://evil.example', 'null']) {
    for (const method of ['GET', 'OPTIONS'] as const) {
      const response = await fetch(`${platform.url}/api/v1/core/agents`, {
        method,
        headers: {
          origin,
          'x-api-key': ADMIN_KEY,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'x-api-key',
        },
      });
      expect(
        [...response.headers.keys()].filter((header) => header.startsWith('access-control') || header === 'set-cookie'),
      ).toEqual([]);
      expect(response.status).toBe(method === 'GET' ? 200 : 405);
    }
  }
  const forwarded = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example;proto=https',
    'x-forwarded-for': '10.0.0.1',
    host: 'evil.example',
  };
  const { headers, text } = await platform.call('/api/v1/core/spaces', {
    method: 'POST',
    body: { name: 'Forwarded' },
    headers: forwarded,
  });
  expect(headers['location']).toMatch(/^\/api\/v1\/core\/spaces\//);
  expect(JSON.stringify(headers) + text).not.toContain('evil.example');
});

it('nothing is changed by a read', async () => {
  const events = async () => {
    return (await wholeLog(platform.platform.host.stores.log))
      .filter(({ metadata }) => !(JSON.parse(metadata) as { actor: string }).actor.startsWith('system:'))
      .map(({ type }) => type);
  };
  const before = await events();
  const reads = secured.filter(
    ({ method, url }) =>
      method !== 'POST' && method !== 'PUT' && method !== 'PATCH' && method !== 'DELETE' && !url.endsWith('/events'),
  );
  expect(reads.length).toBeGreaterThan(50);
  for (const route of reads) await platform.call(world.path(route), { method: route.method as 'GET' });
  // Whoever looks at content is recorded, which is what that look is for.
  expect((await events()).slice(before.length).filter((type) => type !== 'AuditorLookedAtContent')).toEqual([]);
});
