import { filesWhere } from '../fixtures/files-under';
import { startTestPlatform, type TestPlatform } from './harness';

const AGENTS = '/api/v1/core/agents';
const SECRET = 'sk-canary-5f1e-ladybird';

let platform: TestPlatform;
let editor: { userId: string; key: string };
let spaceId: string;
beforeAll(async () => {
  platform = await startTestPlatform();
  editor = await platform.newCaller();
  spaceId = (await send('POST', '/api/v1/core/spaces', { name: 'Tools' })).body['id'] as string;
});
afterAll(() => platform.stop());

const send = (method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown, key = editor.key) =>
  platform.call<Record<string, unknown>>(path, { method, key, ...(body === undefined ? {} : { body }) });

const document = {
  openapi: '3.1.0',
  info: { title: 'Weather', version: '1' },
  security: [{ key: [] }],
  paths: {
    '/forecast/{city}': {
      get: {
        operationId: 'getForecast',
        parameters: [{ name: 'city', in: 'path', required: true, schema: { $ref: '#/components/schemas/City' } }],
      },
    },
  },
  components: {
    schemas: { City: { type: 'string', maxLength: 50 } },
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
  },
};
const baseUrl = 'https://weather.example.com/v1';
const weather = (http: object = {}, others: object = {}) => ({
  id: 'weather',
  name: 'Weather',
  kind: 'http',
  enabled: true,
  approval: 'never',
  http: { document, baseUrl, ...http },
  ...others,
});
const shown = (hasSecret: boolean, others: object = {}) => ({
  ...weather({}, others),
  http: { document, baseUrl, hasSecret },
});

const created = async (tools: unknown): Promise<string> => {
  const { status, text, body } = await send('POST', AGENTS, { spaceId, name: 'Helper', tools });
  expect({ status, text }).toMatchObject({ status: 201 });
  return body['id'] as string;
};
const put = (id: string, tools: unknown) => send('PUT', `${AGENTS}/${id}`, { tools });
const hasSecret = async (id: string): Promise<unknown> => {
  const tools = (await send('GET', `${AGENTS}/${id}`)).body['tools'] as { http?: { hasSecret: boolean } }[];
  return tools[0]?.http?.hasSecret;
};

describe('the tools of an Agent', () => {
  it('are shown as they were sent, but for the secret, which is written alone', async () => {
    const { status, body, text } = await send('POST', AGENTS, {
      spaceId,
      name: 'Helper',
      tools: [
        weather({ secret: SECRET }),
        { id: 'docs', name: 'Docs', kind: 'knowledge', enabled: true, approval: 'always' },
      ],
    });
    expect(status).toBe(201);
    expect(body['tools']).toEqual([
      shown(true),
      { id: 'docs', name: 'Docs', kind: 'knowledge', enabled: true, approval: 'always' },
    ]);
    const id = String(body['id']);
    const read = await send('GET', `${AGENTS}/${id}`);
    expect(read.body['tools']).toEqual(body['tools']);
    const version = await send('GET', `${AGENTS}/${id}/versions/0`);
    expect(version.body).toMatchObject({ changes: { tools: body['tools'] } });
    // Lists leave documents out: they are long.
    const short = { http: { baseUrl, hasSecret: true } };
    const versions = await send('GET', `${AGENTS}/${id}/versions`);
    expect(versions.body).toMatchObject({ items: [{ changes: { tools: [short, {}] } }] });
    const list = await send('GET', `${AGENTS}?spaceId=${spaceId}`);
    expect(list.body).toMatchObject({ items: [{ tools: [short, {}] }] });
    expect(versions.text + list.text).not.toContain('"document"');
    for (const answer of [text, read.text, version.text, versions.text, list.text])
      expect(answer).not.toContain(SECRET);
    // What is read can be written back.
    expect((await put(id, read.body['tools'])).body).toMatchObject({ revision: 0, tools: [shown(true), {}] });
  });

  it('leave their secret in no file, and show it to no auditor, with content or without', async () => {
    const id = await created([weather({ secret: SECRET })]);
    await put(id, [weather({ secret: `${SECRET}-2` }, { name: 'Other' })]);
    for (const path of [
      `/api/v1/audit/events?stream=agent-${id}`,
      `/api/v1/audit/events?stream=agent-${id}&content=true`,
      `/api/v1/audit/events?stream=agent-${id}&raw=true`,
      `/api/v1/audit/objects/agent/${id}`,
      `/api/v1/audit/objects/agent/${id}/history`,
    ]) {
      const { status, text } = await platform.call(path);
      expect([status, path]).toEqual([200, path]);
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(Buffer.from(SECRET).toString('base64').slice(0, 20));
    }
    expect(filesWhere(platform.dataDir, (bytes) => bytes.includes(SECRET))).toEqual([]);
    // The search for it finds what is there.
    expect(filesWhere(platform.dataDir, (bytes) => bytes.includes(id)).length).toBeGreaterThan(0);
  });

  it('keep their secret where it is not sent, and lose it where it is null', async () => {
    const id = await created([weather({ secret: SECRET })]);
    await put(id, [weather({}, { enabled: false })]);
    expect(await hasSecret(id)).toBe(true);
    await put(id, [weather({ secret: null })]);
    expect(await hasSecret(id)).toBe(false);
    await put(id, [weather()]);
    expect(await hasSecret(id)).toBe(false);
  });

  it('do not take their secret to another address: who does not know it could have it sent to them', async () => {
    const id = await created([weather({ secret: SECRET })]);
    const moved = await put(id, [weather({ baseUrl: 'https://evil.example.com/v1' })]);
    expect(moved.status).toBe(400);
    expect(moved.body).toMatchObject({
      code: 'invalid_body',
      detail:
        'tools[0].http.secret must be sent again, because the base URL of the tool changed. null removes the secret.',
    });
    expect((await put(id, [weather({ baseUrl: 'https://evil.example.com/v1', secret: null })])).status).toBe(200);
    expect(await hasSecret(id)).toBe(false);
    // Nor do they by way of another tool, or of the same under another id.
    const other = await created([weather({ secret: SECRET })]);
    await put(other, [weather({}, { id: 'other' })]);
    expect(await hasSecret(other)).toBe(false);
  });

  it('come back with a version, without a secret that was removed since', async () => {
    const id = await created([weather({ secret: SECRET })]);
    const restore = (revision: number) => send('POST', `${AGENTS}/${id}/versions/${revision}/restore`);
    await put(id, []);
    expect((await restore(0)).body).toMatchObject({ tools: [shown(false)] });
    await put(id, [weather({ secret: SECRET }, { name: 'Other' })]);
    expect((await restore(0)).body).toMatchObject({ tools: [shown(true)] });
    await put(id, [weather({ secret: null })]);
    expect((await restore(3)).body).toMatchObject({ tools: [shown(false, { name: 'Other' })] });
    await put(id, [weather({ baseUrl: 'https://elsewhere.example.com', secret: SECRET })]);
    expect((await restore(0)).body).toMatchObject({ tools: [shown(false)] });
  });

  it.each<[string, unknown[], string, RegExp]>([
    [
      'a remote reference',
      [withCity({ $ref: 'https://example.com/city.json' })],
      'tools[0].http.document.components.schemas.City.$ref',
      /refer to this document/,
    ],
    [
      'a recursive schema',
      [withCity({ properties: { a: { $ref: '#/components/schemas/City' } } })],
      'tools[0].http.document.components.schemas.City.properties.a',
      /contain itself/,
    ],
    ['Swagger 2.0', [weather({ document: { swagger: '2.0' } })], 'tools[0].http.document.openapi', /3\.0 or 3\.1/],
    ['no document', [weather({ document: 'x' })], 'tools[0].http.document', /Must be an object/],
    ['no API', [{ ...weather(), http: undefined }], 'tools[0].http', /kind http/],
    ['an API of another kind', [weather({}, { kind: 'knowledge' })], 'tools[0].http', /kind http/],
    ['a kind that nothing runs', [weather({}, { kind: 'code' })], 'tools[0].kind', /"http", "knowledge"/],
    [
      'credentials in the address',
      [weather({ baseUrl: 'https://a:b@example.com' })],
      'tools[0].http.baseUrl',
      /without credentials/,
    ],
    [
      'an address of a file',
      [weather({ baseUrl: 'file:///etc/passwd' })],
      'tools[0].http.baseUrl',
      /Must be an address/,
    ],
    [
      'an address with a query',
      [weather({ baseUrl: 'https://example.com/?a=b' })],
      'tools[0].http.baseUrl',
      /Must be an address/,
    ],
    ['a secret that ends a line', [weather({ secret: 'abcdefgh\r\nx: y' })], 'tools[0].http.secret', /printable ASCII/],
    [
      'a secret that nothing asks for',
      [weather({ secret: SECRET, document: { ...document, security: [] } })],
      'tools[0].http.secret',
      /not needed/,
    ],
    [
      'names that are the same to a model',
      [weather(), weather({}, { id: 'weather.' })],
      'tools[1].http.document.paths./forecast/{city}.get.operationId',
      /weather_getForecast/,
    ],
    [
      'a name of the product',
      [weather({ document: named('knowledge') }, { id: 'search' })],
      'operationId',
      /search_knowledge/,
    ],
    ['an unknown field', [weather({ header: 'x' })], 'tools[0].http.header', /unknown/i],
  ])('are rejected with %s, naming the field and the place', async (_what, tools, place, words) => {
    const { status, body } = await send('POST', AGENTS, { spaceId, name: 'Helper', tools });
    expect(status).toBe(400);
    const [error] = body['errors'] as { path: string; message: string }[];
    expect(error?.path).toContain(place);
    expect(error?.message).toMatch(words);
  });

  it('are rejected with more than 256 KiB of documents together, or 100 operations', async () => {
    const large = { ...document, 'x-a': 'a'.repeat(140_000) };
    const two = [weather({ document: large }), weather({ document: large }, { id: 'b' })];
    expect((await send('POST', AGENTS, { spaceId, name: 'H', tools: two })).text).toContain(
      'at most 262144 characters in total',
    );
    const many = (id: string) =>
      weather(
        {
          document: {
            openapi: '3.0.0',
            paths: Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`/${at}`, { get: {} }])),
          },
        },
        { id },
      );
    expect((await send('POST', AGENTS, { spaceId, name: 'H', tools: [many('a'), many('b')] })).text).toContain(
      'at most 100 operations',
    );
  });
});

function withCity(schema: object) {
  return weather({ document: { ...document, components: { ...document.components, schemas: { City: schema } } } });
}

function named(operationId: string) {
  return { openapi: '3.1.0', paths: { '/a': { get: { operationId } } } };
}
