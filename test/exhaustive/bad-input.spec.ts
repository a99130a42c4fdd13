import type { ServedRoute } from '@app/http';
import { z } from 'zod';
import { type Answer, startTestPlatform, type TestPlatform } from '../e2e/harness';
import { makeWorld, type World } from '../e2e/world';
import { wholeLog } from '../fixtures/whole-log';

let platform: TestPlatform;
let world: World;
let taking: readonly ServedRoute[];
let compatible: readonly ServedRoute[];

/** Fields of a form are texts, whatever a client means. */
const isMultipartOnly = ({ url }: ServedRoute): boolean => url.endsWith('/sources/:sourceId/files');
/** What takes any bytes as a file finds nothing wrong with them. */
const takesBytes = ({ declaration }: ServedRoute): boolean => declaration.body?.bytes !== undefined;
const isCompatible = ({ url }: ServedRoute): boolean => url.startsWith('/api/compat/');

beforeAll(async () => {
  platform = await startTestPlatform();
  world = await makeWorld(platform);
  const all = platform.platform.routes.routes.filter(({ declaration }) => declaration.body !== undefined);
  taking = all.filter((route) => !isCompatible(route) && !takesBytes(route));
  compatible = all.filter(isCompatible);
});
afterAll(() => platform.stop());

const send = (route: ServedRoute, payload: string, headers = {}): Promise<Answer> =>
  platform.call(world.path(route), { method: route.method as 'POST', payload, headers });

/** Events that callers caused; what the platform notes of itself goes on meanwhile. */
const callersEvents = async (): Promise<number> => {
  const all = await wholeLog(platform.platform.host.stores.log);
  return all.filter(({ metadata }) => !(JSON.parse(metadata) as { actor: string }).actor.startsWith('system:')).length;
};

const withoutEffect = async (work: () => Promise<void>): Promise<void> => {
  const before = await callersEvents();
  await work();
  expect(await callersEvents()).toBe(before);
};

const nested = (depth: number): string => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;

const broken: readonly [string, (route: ServedRoute) => string, number][] = [
  ['malformed JSON', () => '{"a":', 400],
  ['garbage', () => 'x', 400],
  ['a list', () => '[]', 400],
  ['text', () => '"x"', 400],
  ['null', () => 'null', 400],
  ['an unknown field', () => '{"surpriseField":1}', 400],
  ['a nesting of 100', () => nested(100), 400],
  ['a nesting of 100,000', () => nested(100_000), 400],
  ['__proto__', () => '{"__proto__":{"polluted":true}}', 400],
  ['constructor.prototype', () => '{"constructor":{"prototype":{"polluted":true}}}', 400],
  ['a NUL in a name', () => '{"surprise\\u0000Field":1}', 400],
  ['a lone surrogate', () => '{"surpriseField":"\\ud800"}', 400],
  ['more than it takes', ({ declaration }) => `{"a":"${'x'.repeat(declaration.body?.limit ?? 0)}"}`, 413],
];

describe('every route that takes a body', () => {
  it.each(broken)('rejects %s, with a problem and without effect', async (_name, payload, expected) => {
    await withoutEffect(async () => {
      for (const route of taking) {
        const { status, body, headers } = await send(route, payload(route));
        const named = `${route.method} ${route.url}`;
        expect([named, status, headers['content-type']]).toEqual([
          named,
          expected,
          'application/problem+json; charset=utf-8',
        ]);
        if (expected === 400) expect([named, Array.isArray(body['errors'])]).toEqual([named, true]);
      }
    });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('rejects a value of another kind in every field, naming the field, without effect', async () => {
    await withoutEffect(async () => {
      for (const route of taking.filter((one) => !isMultipartOnly(one))) {
        for (const [field, value] of wrongValues(route)) {
          const { status, body } = await send(route, JSON.stringify({ [field]: value }));
          const paths = ((body['errors'] ?? []) as { path: string }[]).map(({ path }) => path);
          const named = `${route.method} ${route.url} ${field}=${JSON.stringify(value).slice(0, 40)}`;
          expect([
            named,
            status,
            paths.some((path) => path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`)),
          ]).toEqual([named, 400, true]);
        }
      }
    });
  });

  it('rejects NUL and lone surrogates in every text field, naming it', async () => {
    for (const route of taking) {
      for (const field of Object.keys(propertiesOf(route))) {
        for (const text of ['a\\u0000b', '\\udc00']) {
          const { status, body } = await send(route, `{"${field}":"${text}"}`);
          expect([
            `${route.method} ${route.url} ${field}`,
            status,
            (body['errors'] as { path: string }[])[0]?.path,
          ]).toEqual([`${route.method} ${route.url} ${field}`, 400, field]);
        }
      }
    }
  });
});

it('every route that takes no body rejects one, naming the field, without effect', async () => {
  const bare = platform.platform.routes.routes.filter(
    ({ method, declaration }) => declaration.body === undefined && !['GET', 'HEAD'].includes(method),
  );
  expect(bare.length).toBeGreaterThan(20);
  await withoutEffect(async () => {
    for (const route of bare) {
      const named = await send(route, '{"surpriseField":1}');
      expect([route.method, route.url, named.status, named.body]).toMatchObject([
        route.method,
        route.url,
        400,
        { code: 'unknown_field', errors: [{ path: 'surpriseField' }] },
      ]);
      for (const payload of ['[]', '"x"', '1'])
        expect([route.url, (await send(route, payload)).body]).toMatchObject([route.url, { code: 'invalid_body' }]);
    }
  });
});

describe('every route of the compatible API', () => {
  it.each(broken)('rejects %s, with an envelope and without effect', async (_name, payload, expected) => {
    expect(compatible).toHaveLength(3);
    await withoutEffect(async () => {
      for (const route of compatible) {
        const { status, body } = await send(route, payload(route));
        expect([route.url, status, Object.keys(body), Object.keys(body['error'] as object)]).toEqual([
          route.url,
          expected,
          ['error'],
          ['message', 'type', 'param', 'code'],
        ]);
      }
    });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('an upload', () => {
  const field = (name: string, value = ''): string =>
    `--B\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  /** What the file of a route is sent behind. */
  const fieldsOf = (url: string): string => {
    if (url.includes('/sources/')) return field('path', 'a.md');
    return /\/skills(\/import)?$/.test(url) ? field('scope', 'space') + field('spaceId', world.ids['spaceId']) : '';
  };
  const file = '--B\r\ncontent-disposition: form-data; name="file"; filename="a.md"\r\n';
  it.each([
    ['what is not multipart', '{"name":"a"}'],
    ['a part that ends in its headers', '--B\r\ncontent-dispo'],
    ['a file that is cut off', `${file}\r\nhalf`],
    ['a last part without the end of the body', `${file}\r\nwhole\r\n--B\r\n`],
    ['a field without a name', `--B\r\ncontent-disposition: form-data\r\n\r\nx\r\n${file}\r\nwhole\r\n--B--\r\n`],
    [
      'a part without a disposition behind a file',
      `${file}\r\nwhole\r\n--B\r\ncontent-type: text/plain\r\n\r\nlost\r\n--B--\r\n`,
    ],
    [
      'a file whose disposition stands behind a hundred headers',
      `${file}\r\nwhole\r\n${file.replace('--B\r\n', `--B\r\n${'x: y\r\n'.repeat(100)}`)}\r\nlost\r\n--B--\r\n`,
    ],
    [
      'a file in a part of another kind',
      `${file}\r\nwhole\r\n${file.replace('form-data', 'attachment')}\r\nlost\r\n--B--\r\n`,
    ],
  ])('rejects %s, without effect', async (_name, payload) => {
    const routes = platform.platform.routes.routes.filter(({ declaration }) => declaration.body?.files !== undefined);
    expect(routes).not.toHaveLength(0);
    await withoutEffect(async () => {
      for (const route of routes) {
        const { status, body } = await send(route, fieldsOf(route.url) + payload, {
          'content-type': 'multipart/form-data; boundary=B',
        });
        expect([status, body]).toMatchObject([400, { code: 'invalid_body', errors: [{ code: 'malformed' }] }]);
      }
    });
  });
});

it('takes a file in an upload with a quoted delimiter and an epilogue, and rejects one without a name', async () => {
  const [route] = platform.platform.routes.routes.filter(({ declaration }) => declaration.body?.files !== undefined);
  const upload = (text: string) =>
    platform.call<{ items: object[]; errors: { code: string }[] }>(world.path(route as ServedRoute), {
      method: 'POST',
      payload: text,
      headers: { 'content-type': 'multipart/form-data; boundary="B B"' },
    });
  const part = (head: string) =>
    `--B B\r\ncontent-disposition: form-data; name="file"${head}\r\n\r\nA file.\r\n--B B--\r\nepilogue`;
  const [taken, rejected] = [
    await upload(part('; filename="a.md"')),
    await upload(part('\r\ncontent-type: application/octet-stream')),
  ];
  expect([taken.status, taken.body.items.length, rejected.status, rejected.body.errors[0]?.code]).toEqual([
    202,
    1,
    400,
    'invalid_name',
  ]);
});

it('rejects an idempotency key on an upload, whose repeat could not be told from another file', async () => {
  const routes = platform.platform.routes.routes.filter(({ declaration }) => declaration.body?.files !== undefined);
  const whole = '--B\r\ncontent-disposition: form-data; name="file"; filename="a.md"\r\n\r\nwhole\r\n--B--\r\n';
  await withoutEffect(async () => {
    for (const route of routes) {
      const { status, body } = await send(route, whole, {
        'content-type': 'multipart/form-data; boundary=B',
        'idempotency-key': 'upload-1',
      });
      expect([status, body['errors']]).toEqual([400, [expect.objectContaining({ path: 'Idempotency-Key' })]]);
    }
  });
});

interface Property {
  readonly type?: string | string[];
  readonly anyOf?: readonly Property[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

const propertiesOf = ({ declaration }: ServedRoute): Record<string, Property> => {
  const schema = z.toJSONSchema(declaration.body?.schema as z.ZodType, { io: 'input', unrepresentable: 'any' }) as {
    properties?: Record<string, Property>;
  };
  return schema.properties ?? {};
};

const typesOf = (property: Property): string[] => [
  ...[property.type ?? []].flat(),
  ...(property.anyOf ?? []).flatMap(typesOf),
  ...[...(property.enum ?? []), property.const]
    .filter((value) => value !== undefined)
    .map((value) => (value === null ? 'null' : typeof value)),
];

/** For every field of a body a value of each kind that it does not take. */
const wrongValues = (route: ServedRoute): [string, unknown][] =>
  Object.entries(propertiesOf(route)).flatMap(([field, property]) => {
    const types = new Set(typesOf(property));
    if (types.size === 0) return [];
    const numeric = types.has('number') || types.has('integer');
    const samples: [boolean, unknown][] = [
      [types.has('null'), null],
      [types.has('boolean'), true],
      [numeric, 12.5],
      [types.has('string'), 'x'],
      [types.has('array'), [[]]],
      [types.has('object'), { surpriseField: 1 }],
    ];
    return samples.filter(([taken]) => !taken).map(([, value]): [string, unknown] => [field, value]);
  });

it.each(['%', '%zz', '%e0%a4%a', '%c0%af'])(
  'a path with the malformed escape %s is rejected as a path',
  async (escape) => {
    const { status, body } = await platform.call(`/api/v1/core/agents/${escape}`);
    expect([status, body['code'], body['errors']]).toEqual([
      400,
      'invalid_parameter',
      [expect.objectContaining({ path: 'path', code: 'malformed' })],
    ]);
  },
);

it.each(['abc', '-1', '42', '$gt'])(
  'a position to read after that no log gives is rejected at once: %s',
  async (position) => {
    expect(await platform.call('/api/v1/core/spaces', { headers: { 'x-read-after': position } })).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', errors: [{ path: 'x-read-after' }] },
    });
  },
);

it('an API key that has expired before it was made is rejected', async () => {
  const { status, body } = await platform.call('/api/v1/core/api-keys', {
    method: 'POST',
    body: { name: 'late', agentIds: [], permissions: [], expiresAt: '2020-01-01T00:00:00Z' },
  });
  expect([status, body['code'], body['errors']]).toEqual([
    400,
    'invalid_body',
    [expect.objectContaining({ path: 'expiresAt' })],
  ]);
});
