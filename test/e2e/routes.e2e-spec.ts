import { errorRegistry, type ServedRoute, wildcardOf } from '@app/http';
import { type Answer, type Call, startTestPlatform, type TestPlatform } from './harness';
import { asUnknown, makeWorld, pathWith, UNKNOWN_ID, type World } from './world';

let platform: TestPlatform;
let world: World;
let routes: readonly ServedRoute[];
let narrow: { key: string; keyId: string };
let stranger: { key: string };
const gone: Record<string, string> = {};

beforeAll(async () => {
  platform = await startTestPlatform();
  world = await makeWorld(platform);
  routes = platform.platform.routes.routes.filter(({ method }) => method !== 'HEAD');
  narrow = await platform.newCaller({ permissions: [] });
  stranger = await platform.newCaller();
  const revoked = await platform.newCaller();
  const suspended = await platform.newCaller();
  const deleted = await platform.newCaller();
  const { call } = platform;
  expect((await call(`/api/v1/core/api-keys/${revoked.keyId}`, { method: 'DELETE' })).status).toBe(204);
  expect((await call(`/api/v1/core/users/${suspended.userId}/suspend`, { method: 'POST' })).status).toBe(200);
  expect((await call(`/api/v1/core/users/${deleted.userId}`, { method: 'DELETE' })).status).toBe(204);
  Object.assign(gone, { revoked: revoked.key, suspended: suspended.key, deleted: deleted.key });
});
afterAll(() => platform.stop());

/** The compatible API has errors, parameters and credentials of its own. */
const isCompatible = ({ url }: ServedRoute): boolean => url.startsWith('/api/compat/');
const isSecured = ({ declaration }: ServedRoute): boolean =>
  declaration.requires !== 'public' && declaration.requires !== 'docs';
const named = ({ method, url }: ServedRoute): string => `${method} ${url}`;

const ask = (route: ServedRoute, call: Call, path = world.path(route)): Promise<Answer> =>
  platform.call(path, {
    method: route.method as 'GET',
    ...(route.declaration.body === undefined ? {} : { body: {} }),
    ...call,
  });

/** Asks every route and answers those whose status is another than expected, with it. */
const exceptions = async (
  asked: readonly ServedRoute[],
  call: Call,
  expected: (route: ServedRoute) => number,
): Promise<string[]> => {
  const found: string[] = [];
  for (const route of asked) {
    const { status, text } = await ask(route, call);
    if (status !== expected(route)) found.push(`${named(route)}: ${status} ${text.slice(0, 200)}`);
  }
  return found;
};

describe('the route table', () => {
  it('holds a declared permission for every route', () => {
    expect(routes.filter(({ declaration }) => declaration.requires === undefined).map(named)).toEqual([]);
  });

  it('is the OpenAPI document, whose codes are the registry', async () => {
    const { body } = await platform.call<{
      paths: Record<string, object>;
      components: { schemas: { Problem: { properties: { code: { enum: string[] } } } } };
    }>('/openapi.json');
    const documented = Object.entries(body.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replace(/{(\w+)}/g, ':$1')}`),
    );
    const served = routes.filter(({ declaration }) => declaration.requires !== 'docs');
    expect(documented.toSorted()).toEqual(
      served.map((route) => named(route).replace(/\*$/, `:${wildcardOf(route.url)}`)).toSorted(),
    );
    expect(body.components.schemas.Problem.properties.code.enum).toEqual(Object.keys(errorRegistry));
  });
});

describe('every route that is not public', () => {
  it.each([
    ['without a credential', () => ({ key: null })],
    ['with a wrong key', () => ({ key: 'ap_wrong' })],
    ['with a bearer token', () => ({ key: null, headers: { authorization: `Bearer ${stranger.key}` } })],
    [
      'with a key in the path',
      () => ({ key: null, headers: { 'x-original-url': '/', 'x-user-id': '1', 'x-request-from': 'internal' } }),
    ],
    ['with a revoked key', () => ({ key: gone['revoked'] as string })],
    ['with the key of a suspended user', () => ({ key: gone['suspended'] as string })],
    ['with the key of a deleted user', () => ({ key: gone['deleted'] as string })],
  ])('answers 401 %s', async (_name, call) => {
    const rejecting = call();
    const bearer = 'authorization' in ((rejecting as Call).headers ?? {});
    expect(
      await exceptions(
        routes.filter((route) => isSecured(route) && !(bearer && isCompatible(route))),
        rejecting,
        () => 401,
      ),
    ).toEqual([]);
  });

  it('answers 403 to a caller without its permission', async () => {
    const needing = routes.filter((route) => isSecured(route) && route.declaration.requires !== 'authenticated');
    expect(await exceptions(needing, { key: narrow.key }, () => 403)).toEqual([]);
  });

  it('takes no parameter, header or spelling that it does not know', async () => {
    const undeclared = routes.filter(
      ({ declaration }) => declaration.query === undefined && isSecured({ declaration } as ServedRoute),
    );
    for (const route of undeclared.filter((one) => !isCompatible(one))) {
      const { status, body } = await ask(route, {}, `${world.path(route)}?surprise=1`);
      expect([named(route), status, body['code']]).toEqual([named(route), 400, 'invalid_parameter']);
    }
  });
});

describe('what is foreign', () => {
  /** An answer without what tells two requests apart. */
  const constant = ({ status, headers, text }: Answer): unknown => [
    status,
    headers['content-length'],
    asUnknown(
      text,
      ...Object.entries(world.ids).flatMap(([name, id]) => (name === 'userId' || name === 'name' ? [] : [id])),
    ),
  ];

  it('is answered byte for byte as what does not exist', async () => {
    const keyed = routes.filter(
      ({ url, declaration }) =>
        /:(spaceId|agentId|promptId|keyId|documentId|conversationId|tagId)/.test(url) &&
        isSecured({ declaration } as ServedRoute),
    );
    expect(keyed.length).toBeGreaterThan(10);
    const requestId = { 'x-request-id': 'same-for-both' };
    for (const route of keyed) {
      const foreign = await ask(route, { key: stranger.key, headers: requestId });
      const unknown = await ask(
        route,
        { key: stranger.key, headers: requestId },
        pathWith(route.url, { userId: world.ids['userId'] as string }),
      );
      expect([named(route), constant(foreign)]).toEqual([named(route), constant(unknown)]);
      expect([named(route), foreign.status >= 400 && foreign.status < 500]).toEqual([named(route), true]);
    }
  });

  it('is rejected to a key without a grant with 403, whether it exists or not', async () => {
    const ungranted = await platform.newCaller({ allAgents: false });
    for (const route of routes.filter(({ url }) => url.includes(':agentId'))) {
      for (const agentId of [world.ids['agentId'] as string, UNKNOWN_ID]) {
        const { status, body } = await ask(
          route,
          { key: ungranted.key },
          pathWith(route.url, { ...world.ids, agentId }),
        );
        expect([named(route), status, body['code']]).toEqual([named(route), 403, 'agent_not_granted']);
      }
    }
  });
});
