import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { KEY, serveThings, set, state } from '../../../test/fixtures/edge-of-things';
import { until } from '../../../test/fixtures/until';
import { makeLogger } from './logging';

const lines: Record<string, unknown>[] = [];
const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
const requests = () =>
  lines
    .filter(({ msg }) => msg === 'request')
    .map(({ method, route, status, brokenOff, actor }) => [method, route, status, brokenOff ?? false, actor]);
beforeEach(() => {
  lines.length = 0;
  state.clear();
});

it('logs writes and rejections by the pattern of their route, and each once', async () => {
  const things = await serveThings(makeLogger('info', { write }));
  const server = `http://127.0.0.1:${await things.port()}`;
  const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
  for (const path of ['/things', '/things/known', '/things/nothing', '/none']) {
    const sent = path === '/things' ? { method: 'POST', headers, body: '{"name":"a"}' } : { headers };
    await (await fetch(server + path, sent)).arrayBuffer();
  }
  await things.close();
  expect(requests()).toEqual([
    ['POST', '/things', 201, false, 'key:1'],
    ['GET', '/things/:id', 404, false, 'key:1'],
    ['GET', 'none', 404, false, undefined],
  ]);
});

it.each(['destroy', 'resetAndDestroy'] as const)(
  'logs a write whose client left before the answer as 499, once: %s',
  async (leave) => {
    const things = await serveThings(makeLogger('info', { write }));
    const gate = Promise.withResolvers<void>();
    set.gate = gate.promise;
    const client = connect(await things.port(), '127.0.0.1');
    const body = '{"name":"a"}';
    client.write(
      `POST /things HTTP/1.1\r\nhost: h\r\nx-api-key: ${KEY}\r\nidempotency-key: k\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => state.size > 0);
    client[leave]();
    await until(() => requests().length > 0);
    gate.resolve();
    await things.close();
    expect(requests()).toEqual([['POST', '/things', 499, false, 'key:1']]);
  },
);

it('logs an injected request once', async () => {
  const things = await serveThings(makeLogger('info', { write }));
  await things.call({ method: 'POST', url: '/things', body: { name: 'a' } });
  await things.close();
  expect(requests()).toEqual([['POST', '/things', 201, false, 'key:1']]);
});

it('logs an answer that the server broke off as such, and why', async () => {
  const things = await serveThings(makeLogger('info', { write }));
  set.download = Readable.from(
    (async function* () {
      yield Buffer.alloc(200_000);
      throw new Error('the disk is gone');
    })(),
  );
  const response = await fetch(`http://127.0.0.1:${await things.port()}/things/known/content`, {
    headers: { 'x-api-key': KEY },
  });
  await expect(response.arrayBuffer()).rejects.toThrow('terminated');
  await things.close();
  expect(requests()).toEqual([['GET', '/things/:id/content', 200, true, 'key:1']]);
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 'error', msg: 'An answer broke off: its source failed.' }),
  );
});

it('logs no fault where a client leaves in the midst of a file', async () => {
  const things = await serveThings(makeLogger('debug', { write }));
  set.download = Readable.from(
    (async function* () {
      for (;;) yield Buffer.alloc(65_536);
    })(),
  );
  const leaving = new AbortController();
  const response = await fetch(`http://127.0.0.1:${await things.port()}/things/known/content`, {
    headers: { 'x-api-key': KEY },
    signal: leaving.signal,
  });
  await response.body?.getReader().read();
  leaving.abort();
  await until(() => requests().length > 0);
  await things.close();
  expect(requests()).toEqual([['GET', '/things/:id/content', 499, false, 'key:1']]);
  expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
});
