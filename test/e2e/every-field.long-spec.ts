import type { ServedRoute } from '@app/http';
import { ADMIN_KEY, type Answer, startTestPlatform, type TestPlatform } from './harness';
import { type Ids, requestWith, worldOf } from './places-of-ids';
import { VALID_REQUESTS } from './valid-requests';
import { UNKNOWN_ID } from './world';

const CORE = '/api/v1/core';
let platform: TestPlatform;
let routes: readonly ServedRoute[];
let ids: Ids;
let other: { key: string };

beforeAll(async () => {
  platform = await startTestPlatform();
  routes = platform.platform.routes.routes;
  const me = (await platform.call<{ id: string }>(`${CORE}/users/me`)).body.id;
  const world = await worldOf(platform, { key: ADMIN_KEY, userId: me });
  const scope = { type: 'space', id: world['spaceId'] };
  const body = { scope, amount: '100', window: 'day', action: 'warn' };
  const limit = await platform.call<{ id: string }>(`${CORE}/cost-control`, { method: 'POST', body });
  ids = { ...world, limitId: limit.body.id, id: world['agentId'] as string, kind: 'agent', name: 'agents' };
  other = await platform.newCaller({ role: 'admin' });
});
afterAll(() => platform.stop());

/** JSON that some field takes for another value than it is, or does not survive being stored. */
const HOSTILE: readonly string[] = [
  '""',
  '"\\u200b"',
  '"a\\u202eb"',
  '"a\\u0000b"',
  '"a\\ud800"',
  '1e400',
  '-0',
  '9007199254740993',
  '1.5',
  '"+275760-09-13T00:00:00.000Z"',
  '"0000-01-01T00:00:00Z"',
  '"1e400"',
  '"0x10"',
  '[]',
  '{}',
  'null',
  '[[]]',
  '{"__proto__":{"a":1}}',
];

type Path = readonly (string | number)[];
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
/** Where a body has a value: every field, and every item of a list. An OpenAPI document is somebody else's format. */
const placesIn = (value: unknown, path: Path = []): readonly Path[] =>
  isObject(value)
    ? Object.entries(value).flatMap(([name, inner]) => {
        const place = [...path, Array.isArray(value) ? Number(name) : name];
        return [place, ...(name === 'document' ? [] : placesIn(inner, place))];
      })
    : [];
const HERE = 'the value goes here';
/** A body with other JSON in one place. */
const bodyWith = (value: unknown, [name, ...rest]: Path): unknown => {
  if (name === undefined) return HERE;
  if (Array.isArray(value)) return value.map((item, index) => (index === name ? bodyWith(item, rest) : item));
  const all = value as Readonly<Record<string, unknown>>;
  return { ...all, [name]: bodyWith(all[name], rest) };
};
const textOf = (path: Path): string =>
  path.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`)).join('');

interface Problem {
  readonly errors?: readonly { readonly path: string }[];
}

const send = (route: string, body: object, json: string): Promise<Answer<Problem>> => {
  const { path, payload, ...call } = requestWith(route, body, ids);
  return platform.call(path, { ...call, payload: String(payload).replace(`"${HERE}"`, () => json) });
};
/** Whether a fault stands in a field, in what is in it, or in the list that it is an item of. */
const isAt = (fault: string, field: string): boolean =>
  fault === field || [`${field}.`, `${field}[`].some((start) => fault.startsWith(start)) || field === `${fault}[0]`;
/** Fields that are wrong together. */
const TOGETHER: Readonly<Record<string, readonly string[]>> = {
  'chunking.maxTokens': ['chunking.overlapTokens'],
  spaceId: ['scope'],
  agentId: ['scope'],
  scope: ['spaceId', 'agentId'],
  tagId: ['operation'],
  operation: ['tagId'],
};

it('no value in any field of a valid body fails on our side, and whoever rejects it names that field', async () => {
  const wrong: unknown[] = [];
  for (const [route, body] of VALID_REQUESTS)
    for (const place of placesIn(body)) {
      const field = textOf(place);
      const answers = await Promise.all(HOSTILE.map((json) => send(route, bodyWith(body, place) as object, json)));
      for (const [index, { status, body: problem, text }] of answers.entries()) {
        const json = HOSTILE[index];
        const faults = (problem?.errors ?? []).map(({ path }) => path);
        const isElsewhere = faults.some((fault) => ![field, ...(TOGETHER[field] ?? [])].some((at) => isAt(fault, at)));
        if (status >= 500 || (status === 400 && (faults.length === 0 || isElsewhere)))
          wrong.push(`${route} ${field} ${json}: ${status} ${status === 400 ? faults.join() : text}`);
      }
    }
  expect(wrong).toEqual([]);
});

const parametersOf = ({ declaration }: ServedRoute): readonly string[] => Object.keys(declaration.query?.shape ?? {});

it.each([
  ['NUL', 'a%00b'],
  ['a byte that is not UTF-8', 'a%ffb'],
  ['a surrogate', '%ed%a0%80'],
  ['an overlong slash', '%c0%af'],
  ['half an escape', '%z'],
])('%s is the value of no parameter, of any route', async (_name, value) => {
  const found: unknown[] = [];
  for (const route of routes.filter(({ url }) => url.startsWith('/api/v1/')))
    for (const name of parametersOf(route)) {
      const { path } = requestWith(`${route.method} ${route.url}`, undefined, ids);
      const { status, body } = await platform.call<Problem & { code: string }>(`${path}?${name}=${value}`, {
        method: route.method as 'GET',
      });
      if (
        route.method === 'HEAD' ? status !== 400 : body.code !== 'invalid_parameter' || body.errors?.[0]?.path !== name
      )
        found.push([route.method, route.url, name, status]);
    }
  expect(found).toEqual([]);
});

it('no cursor is taken that another list gave, or another caller has, or that was changed', async () => {
  const found: unknown[] = [];
  let cursors = 0;
  for (const route of routes.filter(({ method, url }) => method === 'GET' && url.startsWith(`${CORE}/`))) {
    if (!parametersOf(route).includes('cursor')) continue;
    const { path } = requestWith(`GET ${route.url}`, undefined, ids);
    const at = route.url === `${CORE}/skills` ? `${path}?spaceId=${ids['spaceId']}&` : `${path}?`;
    const given = (await platform.call<{ nextCursor: string | null }>(`${at}limit=1`)).body.nextCursor;
    const tried = ['x', 'x.y', '.', 'W10.', ...(given === null ? [] : [`${given}.x`, `${given}=`, `.${given}`])];
    for (const cursor of tried) {
      const { status, body } = await platform.call<{ code: string }>(`${at}cursor=${cursor}`);
      if (body.code !== 'invalid_cursor') found.push([route.url, cursor, status]);
    }
    if (given === null) continue;
    cursors += 1;
    const { status } = await platform.call(`${at}cursor=${given}`, { key: other.key });
    if (status < 400) found.push([route.url, 'of another caller', status]);
  }
  const documents = `${CORE}/knowledge/${ids['agentId']}/documents`;
  const { body } = await platform.call(`${documents}?tagId=${UNKNOWN_ID}&cursor=x`);
  expect([found, cursors > 8, body['code']]).toEqual([[], true, 'invalid_cursor']);
});

/** They change nothing, or nothing that is kept. */
const CHANGES_NOTHING = /(?:\/download|\/search|\/generate\w+|\/transcribe)$/;

it('no write passes over an If-Match that does not hold', async () => {
  const found: unknown[] = [];
  const deleting = routes.filter(({ method, url }) => method === 'DELETE' && url.startsWith(`${CORE}/`));
  const requests = [
    ...VALID_REQUESTS.filter(
      ([route, body]) => !CHANGES_NOTHING.test(route) && !(body !== undefined && 'dryRun' in body),
    ),
    ...deleting.map(({ url }) => [`DELETE ${url}`] as const),
  ];
  for (const [route, body] of requests) {
    const { path, ...call } = requestWith(route, body, ids);
    const { status, text } = await platform.call(path, { ...call, headers: { 'if-match': '"99999"' } });
    if (status < 300 || status >= 500) found.push([route, status, text]);
  }
  expect(found).toEqual([]);
});
