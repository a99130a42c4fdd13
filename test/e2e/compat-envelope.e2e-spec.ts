import { connect } from 'node:net';
import { startTestGateway, type TestGateway } from './gateway';
import { ADMIN_KEY, type TestPlatform } from './harness';

const BASE = '/api/compat/v1';
let gateway: TestGateway;
let platform: TestPlatform;
beforeAll(async () => {
  gateway = await startTestGateway();
  ({ platform } = gateway);
});
afterAll(() => gateway.stop());

const ask = async (body: object, path = '/chat/completions') => {
  const response = await fetch(`${gateway.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'Hi' }], ...body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
};
const errorOf = (text: string) => (JSON.parse(text) as { error: object }).error;

describe('the envelope', () => {
  const send = (method: string, path: string, headers: Record<string, string>, body = '') =>
    new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(platform.url);
      const socket = connect(Number(port), hostname, () =>
        socket.write(
          [
            `${method} ${BASE}${path} HTTP/1.1`,
            'host: x',
            'connection: close',
            ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
            '',
            body,
          ].join('\r\n'),
        ),
      );
      let text = '';
      socket
        .on('data', (piece: Buffer) => (text += piece.toString()))
        .on('end', () => resolve(text))
        .on('error', reject);
    });
  const key = { 'x-api-key': ADMIN_KEY };
  const jsonType = { 'content-type': 'application/json' };

  it.each<[string, string, string, Record<string, string>, string, number, string | null]>([
    ['bad JSON', 'POST', '/chat/completions', { ...key, ...jsonType, 'content-length': '1' }, '{', 400, null],
    ['an empty body', 'POST', '/chat/completions', { ...key, ...jsonType, 'content-length': '0' }, '', 400, null],
    ['no body', 'POST', '/embeddings', key, '', 400, null],
    [
      'too much',
      'POST',
      '/rerank',
      { ...key, ...jsonType, 'content-length': String(33 * 1024 ** 2) },
      '',
      413,
      'too_large',
    ],
    [
      'another type',
      'POST',
      '/chat/completions',
      { ...key, 'content-type': 'text/plain', 'content-length': '1' },
      'x',
      415,
      'unsupported_media_type',
    ],
    ['no route', 'GET', '/nothing', key, '', 404, 'unknown_url'],
    ['another method', 'GET', '/chat/completions', key, '', 405, 'method_not_allowed'],
    ['no key', 'GET', '/models', {}, '', 401, 'invalid_api_key'],
    ['a wrong key', 'GET', '/models', { authorization: 'Bearer ap_wrong' }, '', 401, 'invalid_api_key'],
    ['two keys', 'GET', '/models', { ...key, authorization: 'Bearer ap_wrong' }, '', 401, 'invalid_api_key'],
    ['a bad path', 'GET', '/models/%E0%A4%A', key, '', 400, 'invalid_parameter'],
    [
      'no messages',
      'POST',
      '/chat/completions',
      { ...key, ...jsonType, 'content-length': '16' },
      '{"model":"chat"}',
      400,
      'missing_required_parameter',
    ],
  ])('answers %s', async (_, method, path, headers, body, status, code) => {
    const [head = '', text = ''] = (await send(method, path, headers, body)).split('\r\n\r\n');
    expect(head.split('\r\n')[0]).toContain(` ${status} `);
    expect(head.toLowerCase()).toMatch(/x-request-id: \S/);
    expect(head.toLowerCase()).toContain('content-type: application/json');
    const { error } = JSON.parse(text) as { error: Record<string, unknown> };
    expect([Object.keys(error), error['type'], error['code']]).toEqual([
      ['message', 'type', 'param', 'code'],
      'invalid_request_error',
      code,
    ]);
  });

  it('takes the same key twice', async () =>
    expect(await send('GET', '/models', { ...key, authorization: `Bearer ${ADMIN_KEY}` })).toContain(' 200 '));

  it('takes no two keys, whichever of them is valid, nor if both are', async () => {
    const other = await platform.newCaller();
    const pairs = [
      [ADMIN_KEY, other.key],
      [other.key, ADMIN_KEY],
      ['ap_wrong', ADMIN_KEY],
      [ADMIN_KEY, 'ap_wrong'],
    ] as const;
    for (const [own, bearer] of pairs)
      expect(await send('GET', '/models', { 'x-api-key': own, authorization: `Bearer ${bearer}` })).toMatch(
        /^HTTP\/1\.1 401 [^]*"invalid_api_key"/,
      );
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['a wrong key', { authorization: 'Bearer ap_wrong' }, /^Incorrect API key provided/],
    ['a wrong key in x-api-key', { 'x-api-key': 'ap_wrong' }, /^Incorrect API key provided/],
    ['another scheme', { authorization: 'Basic YTpi' }, /^Incorrect API key provided.*"Bearer"/],
    ['two keys', { ...key, authorization: 'Bearer ap_wrong' }, /^Incorrect API key provided.*different keys/],
    ['none', {}, /^You didn't provide an API key/],
  ])('says of %s what clients know it by', async (_, headers, message) => {
    expect(errorOf((await platform.call(`${BASE}/models`, { key: null, headers })).text)).toMatchObject({
      code: 'invalid_api_key',
      message: expect.stringMatching(message),
    });
  });

  it('opens to a key that was made with a permission and nothing else', async () => {
    const { status, body } = await platform.call<{ secret: string; agentIds: string[]; allAgents: boolean }>(
      '/api/v1/core/api-keys',
      { method: 'POST', body: { name: 'Gateway', permissions: ['compat'] } },
    );
    expect([status, body.agentIds, body.allAgents]).toEqual([201, [], false]);
    expect((await platform.call(`${BASE}/models`, { key: body.secret })).status).toBe(200);
  });

  it('rejects a key without the permission', async () => {
    const narrow = await platform.newCaller({ permissions: ['llm'] });
    expect(await platform.call(`${BASE}/models`, { key: narrow.key })).toMatchObject({
      status: 403,
      body: { error: { type: 'invalid_request_error', param: null, code: 'forbidden' } },
    });
  });

  it.each([
    [{ messages: [{ role: 'user', content: [{}] }] }, 'messages[0].content[0].type', 'missing_required_parameter'],
    [{ messages: 'hi' }, 'messages', 'invalid_type'],
    [{ temperature: 3 }, 'temperature', 'invalid_value'],
    [{ top_p: '1' }, 'top_p', 'invalid_type'],
    [{ max_tokens: 0 }, 'max_tokens', 'invalid_value'],
    [{ stream: 'yes' }, 'stream', 'invalid_type'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].function.name', 'missing_required_parameter'],
    [
      { tools: [{ type: 'mcp', server_label: 'a', server_url: 'http://169.254.169.254/' }] },
      'tools[0].type',
      'invalid_value',
    ],
    [{ tools: [{ type: 'custom', custom: { name: 'f' } }, { type: 'web_search' }] }, 'tools[1].type', 'invalid_value'],
  ])('names what is wrong with %j', async (body, param, code) =>
    expect(errorOf((await ask(body)).text)).toMatchObject({ param, code }),
  );

  it.each([
    [[1, 2], 'input', /check_embedding_ctx_length/],
    [[[1]], 'input', /check_embedding_ctx_length/],
    ['', 'input', /empty/],
    [[], 'input', /at least one/],
    [Array.from({ length: 2_049 }, () => 'a'), 'input', /2048/],
  ])('rejects embeddings of %j', async (input, param, message) => {
    const { status, text } = await ask({ model: 'vectors', input }, '/embeddings');
    expect([status, errorOf(text)]).toEqual([
      400,
      expect.objectContaining({ param, message: expect.stringMatching(message) }),
    ]);
  });

  it('takes 2048 inputs, and rejects dimensions that the model does not have', async () => {
    expect(
      (
        await ask(
          { model: 'vectors', input: Array.from({ length: 2_048 }, () => 'a'), encoding_format: 'base64' },
          '/embeddings',
        )
      ).status,
    ).toBe(200);
    expect(errorOf((await ask({ model: 'vectors', input: 'a', dimensions: 9 }, '/embeddings')).text)).toMatchObject({
      param: 'dimensions',
      code: 'invalid_value',
    });
  });
});

test('a stream is never compressed nor kept, and ends with its connection', async () => {
  const { headers } = await ask({ stream: true });
  expect(
    Object.fromEntries(
      ['content-type', 'cache-control', 'x-accel-buffering', 'content-encoding'].map((name) => [
        name,
        headers.get(name),
      ]),
    ),
  ).toEqual({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'content-encoding': null,
  });
});
