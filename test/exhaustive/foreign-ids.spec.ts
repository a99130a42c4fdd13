import type { ServedRoute } from '@app/http';
import { wholeLog } from '../fixtures/whole-log';
import { type Answer, type Call, startTestPlatform, type TestPlatform } from '../e2e/harness';
import { idFieldsOf, type Ids, idsIn, requestWith, withId, worldOf } from '../e2e/places-of-ids';
import { VALID_REQUESTS } from '../e2e/valid-requests';
import { asUnknown, UNKNOWN_ID } from '../e2e/world';

const CORE = '/api/v1/core';
/** What is everybody's to name: the marketplace, and users whom an owner makes members. */
const SHARED = ['entryId', 'entryVersionId', 'userId'];

let platform: TestPlatform;
let routes: readonly ServedRoute[];
let alice: { key: string; userId: string };
/** A key of alice's for one Agent: that of `own`. */
let bound: string;
/** Two worlds of alice's, and one of somebody else. */
let [own, other, foreign]: readonly [Ids, Ids, Ids] = [{}, {}, {}];

beforeAll(async () => {
  platform = await startTestPlatform({ environment: { MARKETPLACE_ROLES: 'admin,member' } });
  routes = platform.platform.routes.routes.filter(
    ({ method, url }) => !['HEAD', 'PATCH'].includes(method) && url.startsWith(`${CORE}/`),
  );
  const [person, somebodyElse] = [await platform.newCaller(), await platform.newCaller()];
  alice = person;
  [own, other, foreign] = [
    await worldOf(platform, person),
    await worldOf(platform, person),
    await worldOf(platform, somebodyElse),
  ];
  const { permissions } = (await platform.call<{ permissions: string[] }>(`${CORE}/api-keys/${person.keyId}`)).body;
  const body = { name: 'Bound', agentIds: [own['agentId']], permissions };
  bound = (await platform.call<{ secret: string }>(`${CORE}/api-keys`, { method: 'POST', key: person.key, body })).body
    .secret;
});
afterAll(() => platform.stop());

/** Requests that only read, by path and by each parameter that is an id. */
const reading = (): readonly (readonly [string, object?])[] =>
  routes
    .filter(({ method, url }) => method === 'GET' && !url.endsWith('/documents/events'))
    .flatMap(({ url, declaration }) => [
      [`GET ${url}`] as const,
      ...Object.keys(declaration.query?.shape ?? {})
        .filter((name) => name.endsWith('Id'))
        .map((name) => [`GET ${url}?${name}=:${name}`] as const),
    ]);
const deleting = (): readonly (readonly [string, object?])[] =>
  routes
    .filter(({ method, declaration }) => method === 'DELETE' && declaration.body === undefined)
    .map(({ url }) => [`DELETE ${url}`]);
const ofUsers = ([route]: readonly [string, object?]): boolean => /\/users(?:$|\/:)/.test(route);
const all = () => [...reading(), ...VALID_REQUESTS, ...deleting()].filter((request) => !ofUsers(request));

const send = (route: string, body: object | undefined, ids: Ids, key: string): Promise<Answer> => {
  const { path, ...call } = requestWith(route, body, { ...ids, apiKeyId: ids['keyId'] ?? UNKNOWN_ID });
  return platform.call(path, { ...(call as Call), key, headers: { 'x-request-id': 'same' } });
};
/** An answer without what tells two requests apart: the ids that were asked for, and the present. */
const told = ({ status, headers, text }: Answer, ...asked: readonly string[]): unknown => [
  status,
  Object.entries({ ...headers, date: '' })
    .map(([name, value]) => `${name}: ${name === 'x-log-position' ? '' : String(value)}`)
    .toSorted(),
  asUnknown(text, ...asked).replace(/"to":"[^"]*"/, ''),
];
/** Events that callers caused; what the platform notes of itself goes on meanwhile. */
const callersEvents = async (): Promise<number> =>
  (await wholeLog(platform.platform.host.stores.log)).filter(
    ({ metadata }) => !(JSON.parse(metadata) as { actor: string }).actor.startsWith('system:'),
  ).length;

it('names every field that takes an id among the requests', () => {
  const named = new Map<string, string>();
  for (const [route, body = {}] of VALID_REQUESTS) named.set(route, `${named.get(route) ?? ''}${JSON.stringify(body)}`);
  const missing = routes.flatMap((route) => {
    const text = named.get(`${route.method} ${route.url}`) ?? '';
    return idFieldsOf(route)
      .filter((field) => !new RegExp(`"${field}":\\[?":\\w*Id"`).test(text))
      .map((field) => `${route.method} ${route.url} ${field}`);
  });
  expect(missing).toEqual([]);
});

it('an id of somebody else is as unknown as that of nothing, in every place of every request, and has no effect', async () => {
  const found: unknown[] = [];
  for (const [route, body] of all())
    for (const name of idsIn(route, body).filter((each) => !SHARED.includes(each))) {
      const id = foreign[name === 'apiKeyId' ? 'keyId' : name] ?? UNKNOWN_ID;
      const before = await callersEvents();
      const ofOthers = await send(route, body, withId(own, name, id), alice.key);
      const after = await callersEvents();
      const unknown = await send(route, body, withId(own, name), alice.key);
      if (JSON.stringify(told(ofOthers, id)) !== JSON.stringify(told(unknown)))
        found.push([route, name, ofOthers.status, ofOthers.text, unknown.status, unknown.text]);
      if (after !== before) found.push([route, name, 'has an effect', ofOthers.status]);
      if (ofOthers.status >= 500) found.push([route, name, ofOthers.text]);
    }
  expect(found).toEqual([]);
});

it('an Agent outside the grants of a key is rejected in one way, whether it exists or not, in every place', async () => {
  const found: unknown[] = [];
  const requests = all().filter(([route, body]) => idsIn(route, body).includes('agentId'));
  expect(requests.length).toBeGreaterThan(80);
  for (const [route, body] of requests) {
    for (const id of [other['agentId'] ?? UNKNOWN_ID, UNKNOWN_ID]) {
      const { status, body: problem } = await send(route, body, withId(own, 'agentId', id), bound);
      const code = (problem as { code?: string } | undefined)?.code;
      if (status !== 403 || (code !== 'agent_not_granted' && code !== 'forbidden'))
        found.push([route, status, problem]);
    }
  }
  expect(found).toEqual([]);
});

it('a key of an admin for one Agent sets no limit for another, and learns of none', async () => {
  const admin = await platform.newCaller({ role: 'admin', allAgents: false });
  const scopes = [other['agentId'], UNKNOWN_ID].map((id) => ({ type: 'agent', id }));
  for (const scope of scopes)
    expect(
      await platform.call(`${CORE}/cost-control`, {
        method: 'POST',
        key: admin.key,
        body: { scope, amount: '1', window: 'day' },
      }),
    ).toMatchObject({ status: 403, body: { code: 'agent_not_granted' } });
  const all = await platform.call<{ items: { scope: unknown }[] }>(`${CORE}/cost-control`);
  expect(all.body.items.map(({ scope }) => scope)).not.toContainEqual(scopes[0]);
});

it('the same requests name nothing wrong with ids of their own', async () => {
  const wrong: unknown[] = [];
  for (const [route, body] of VALID_REQUESTS) {
    // No call waits, and what is only proposed cannot be replaced.
    if (route.includes('/tools/') || (body !== undefined && 'replaces' in body)) continue;
    const { status, text } = await send(route, body, own, alice.key);
    if (status === 400 || status === 404 || status >= 500) wrong.push([route, body, status, text]);
  }
  expect(wrong).toEqual([]);
});
