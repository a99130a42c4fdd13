import { connect } from 'node:net';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

let platform: TestPlatform;
let port: number;
beforeAll(async () => {
  platform = await startTestPlatform({ listen: true });
  port = Number(new URL(platform.url).port);
});
afterAll(() => platform.stop());

/** Sends bytes and answers everything that came until the server closed. */
const exchange = (bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    socket.on('close', () => resolve(received)).on('error', reject);
  });

const statuses = (received: string): number[] =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
const head = `POST /api/v1/core/spaces HTTP/1.1\r\nHost: x\r\nx-api-key: ${ADMIN_KEY}\r\ncontent-type: application/json\r\n`;
const hidden = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';

describe('what could be read in two ways is read in none', () => {
  it.each([
    ['a length beside chunks', `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`],
    ['two lengths', `${head}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}${hidden}`],
    ['a disguised encoding', `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`],
    ['a space before the colon', `${head}Content-Length : 2\r\n\r\n{}${hidden}`],
    ['a folded header', `${head}X-Folded: a\r\n b\r\nContent-Length : 2\r\n\r\n{}`],
    ['a bare line feed', `GET /health/live HTTP/1.1\nHost: x\n\n${hidden}`],
    ['no host', 'GET /health/live HTTP/1.1\r\n\r\n'],
    ['two hosts', `GET /health/live HTTP/1.1\r\nHost: x\r\nHOST: y\r\n\r\n${hidden}`],
    ['no HTTP', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n'],
  ])('%s: one 400, then the connection is closed', async (_name, bytes) => {
    expect(statuses(await exchange(bytes))).toEqual([400]);
  });

  it('a header whose value is the word host is no second host', async () => {
    const received = await exchange('GET /health/live HTTP/1.1\r\nHost: x\r\nx-of: host\r\nConnection: close\r\n\r\n');
    expect(statuses(received)).toEqual([200]);
  });

  it('headers without end: 413', async () => {
    const received = await exchange(`GET /health/live HTTP/1.1\r\nHost: x\r\nx-long: ${'a'.repeat(40_000)}\r\n\r\n`);
    expect([statuses(received), received.includes('application/problem+json')]).toEqual([[413], true]);
  });

  it.each([
    ['headers without end', 413, 'too_large', `Host: x\r\nx-long: ${'a'.repeat(40_000)}\r\n\r\n{}`],
    ['two lengths', 400, 'invalid_parameter', 'Host: x\r\ncontent-length: 2\r\ncontent-length: 40\r\n\r\n{}'],
    ['no host', 400, 'invalid_parameter', 'content-type: application/json\r\ncontent-length: 2\r\n\r\n{}'],
  ])('%s at the gateway: %d in its envelope', async (_, status, code, rest) => {
    const [top = '', body = ''] = (await exchange(`POST /api/compat/v1/chat/completions HTTP/1.1\r\n${rest}`)).split(
      '\r\n\r\n',
    );
    expect([
      statuses(top),
      top.includes('content-type: application/json; charset=utf-8'),
      /\r\nx-request-id: \S+/.test(top),
    ]).toEqual([[status], true, true]);
    expect(JSON.parse(body)).toEqual({
      error: { message: expect.any(String), type: 'invalid_request_error', param: null, code },
    });
  });

  it('a length past the limit: 413 before anything of the body comes, and closed', async () => {
    expect(statuses(await exchange(`${head}Content-Length: ${2 * 1024 ** 2}\r\n\r\n`))).toEqual([413]);
  });

  it('a chunked body past the limit: 413, and closed', async () => {
    const chunk = `10000\r\n${'a'.repeat(65_536)}\r\n`;
    expect(statuses(await exchange(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(20)}0\r\n\r\n`))).toEqual([
      413,
    ]);
  });
});

it('passes over an expectation that it does not know', async () => {
  const received = await exchange(
    `GET /api/compat/v1/models/local-chat HTTP/1.1\r\nHost: x\r\nExpect: magic\r\nx-api-key: ${ADMIN_KEY}\r\nconnection: close\r\n\r\n`,
  );
  expect([statuses(received), /\r\nx-request-id: \S+/.test(received), received.includes('"id":"local-chat"')]).toEqual([
    [200],
    true,
    true,
  ]);
});

it('rejects methods it does not know, also when a header asks for another', async () => {
  const close = `Host: x\r\nx-api-key: ${ADMIN_KEY}\r\nconnection: close\r\n`;
  expect(statuses(await exchange(`TRACE /api/v1/core/spaces HTTP/1.1\r\n${close}\r\n`))[0]).toBeGreaterThanOrEqual(400);
  expect(
    statuses(await exchange(`GET /api/v1/core/users/me HTTP/1.1\r\nX-HTTP-Method-Override: DELETE\r\n${close}\r\n`)),
  ).toEqual([200]);
  expect(
    statuses(await exchange(`GET /api/v1/core/spaces HTTP/1.1\r\nx-api-key: ${ADMIN_KEY}\r\n${close}\r\n`)),
  ).toEqual([401]);
});
