import { type Answer, type Call, startTestPlatform, type TestPlatform } from './harness';
import { makeWorld, pathWith, UNKNOWN_ID, type World } from './world';

/** What an answer that rejects says to whoever reads it: what is wrong, and what now. */

interface Operation {
  readonly 'x-permission': string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}
interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}
interface Route {
  readonly method: Call['method'] & string;
  /** With `:name` for parameters. */
  readonly url: string;
  readonly operation: Operation;
}

let platform: TestPlatform;
let world: World;
let routes: readonly Route[];
let schemas: Readonly<Record<string, Schema>>;

beforeAll(async () => {
  platform = await startTestPlatform();
  world = await makeWorld(platform);
  const { body } = await platform.call<{
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Schema> };
  }>('/openapi.json');
  schemas = body.components.schemas;
  routes = Object.entries(body.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase() as Route['method'],
      url: path.replace(/{(\w+)}/g, ':$1'),
      operation,
    })),
  );
});
afterAll(() => platform.stop());

const ask = ({ method, operation }: Route, path: string, call: Call = {}): Promise<Answer> =>
  platform.call(path, { method, ...(operation.requestBody === undefined ? {} : { body: {} }), ...call });
const sentenceOf = ({ body }: Answer): string =>
  String(body['detail'] ?? (body['error'] as { message?: unknown } | undefined)?.message);
const known = (): Readonly<Record<string, string>> => ({ ...world.ids, kind: 'agent' });

it('a 403 names the permission that is missing, on every route that needs one', async () => {
  const narrow = await platform.newCaller({ permissions: [] });
  const needing = routes.filter(
    ({ operation }) => !['public', 'docs', 'authenticated'].includes(operation['x-permission']),
  );
  expect(needing.length).toBeGreaterThan(60);
  const silent: string[] = [];
  for (const route of needing) {
    const permission =
      route.operation['x-permission'] === 'monitoring' ? 'operations' : route.operation['x-permission'];
    const answer = await ask(route, pathWith(route.url, known()), { key: narrow.key });
    if (answer.status !== 403 || !sentenceOf(answer).startsWith(`This needs the permission ${permission}. `))
      silent.push(`${route.method} ${route.url}: ${answer.status} ${sentenceOf(answer)}`);
  }
  expect(silent).toEqual([]);
});

it('a 404 names what was not found by its kind and the id as given, and that the key may lack access, on every route with an id', async () => {
  const withId = routes.filter(({ url }) => url.includes(':'));
  expect(withId.length).toBeGreaterThan(50);
  const silent: string[] = [];
  for (const route of withId) {
    const names = [...route.url.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
    for (const name of names) {
      // A source is what its caller calls it, and a file is put where there is none.
      if (name === 'kind' || name === 'sourceId' || (name === 'path' && route.method.startsWith('P'))) continue;
      const { [name]: _, ...others } = known();
      // Calls come and go with their answers: a wrong body is told before one is looked for.
      const body = name === 'callId' ? { body: { approved: true } } : {};
      const answer = await ask(route, pathWith(route.url, others), body);
      const said = sentenceOf(answer);
      const isNamed =
        /^[A-Z][A-Za-z ]+ [0-9a-f-]{36} not found, or not visible to you\. [A-Z]/.test(said) ||
        (name === 'modelId' &&
          said.startsWith(`The model '${UNKNOWN_ID}' does not exist or you do not have access to it.`));
      if (answer.status !== 404 || !said.includes(UNKNOWN_ID) || !isNamed)
        silent.push(`${route.method} ${route.url} (${name}): ${answer.status} ${said}`);
    }
  }
  expect(silent).toEqual([]);
});

describe('a 409 gives its reason', () => {
  it('for the last admin', async () => {
    const { body } = await platform.call<{ items: { id: string; role: string }[] }>('/api/v1/core/users');
    const admin = body.items.find(({ role }) => role === 'admin')?.id ?? '';
    expect(await platform.call(`/api/v1/core/users/${admin}`, { method: 'DELETE' })).toMatchObject({
      status: 409,
      body: {
        code: 'conflict',
        detail: 'You cannot delete, suspend or demote the last admin. Make another user an admin first.',
      },
    });
  });

  it('for the last owner, a taken name and a personal Space', async () => {
    const call = (path: string, given: Call) => platform.call(`/api/v1/core${path}`, given);
    const me = String((await call('/users/me', {})).body['id']);
    expect(
      (await call(`/spaces/${world.ids['spaceId']}/members/${me}`, { method: 'PUT', body: { role: 'viewer' } })).body,
    ).toMatchObject({
      status: 409,
      code: 'last_owner',
      detail: expect.stringMatching(/^You cannot .* last owner .*\. Make another/),
    });
    expect((await call('/spaces', { method: 'POST', body: { name: 'Other', slug: 'world-1' } })).body).toMatchObject({
      status: 409,
      code: 'name_taken',
      detail: 'slug is already in use. Choose another.',
      errors: [{ path: 'slug' }],
    });
    expect(
      (await call(`/knowledge/${world.ids['agentId']}/tags`, { method: 'POST', body: { name: 'Manuals' } })).body,
    ).toMatchObject({ status: 409, code: 'name_taken', detail: 'name is already in use. Choose another.' });
    const spaces = (await call('/spaces', {})).body as { items?: { id: string; kind: string }[] };
    const personal = spaces.items?.find(({ kind }) => kind === 'personal')?.id ?? '';
    expect((await call(`/spaces/${personal}`, { method: 'DELETE' })).body).toMatchObject({
      status: 409,
      code: 'conflict',
      detail: expect.stringMatching(/^You cannot delete a personal Space/),
    });
  });
});

/** What a schema library says by itself. */
const LIBRARY =
  /invalid input|expected \w+, received|received \w+$|too (?:small|big)|unrecognized key|invalid (?:option|uuid|string|url|iso|email)|undefined|NaN|ZodError|pattern \/|>=|<=/i;

it('a 400 names the field in words of its own, whatever is wrong with whichever field of every body', async () => {
  const propertiesOf = (schema: Schema): readonly string[] =>
    Object.keys(
      (schema.$ref === undefined ? schema : (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})).properties ?? {},
    );
  const taking = routes.filter(
    ({ operation, method }) => operation.requestBody?.content['application/json'] !== undefined && method !== 'PATCH',
  );
  expect(taking.length).toBeGreaterThan(25);
  const odd: string[] = [];
  let rejected = 0;
  for (const route of taking) {
    const fields = propertiesOf(route.operation.requestBody?.content['application/json']?.schema ?? {});
    const bodies = [
      [],
      5,
      { surprise: 1 },
      ...fields.flatMap((field) =>
        [5, -1.5, '', 'x', null, true, [], [5], {}, 'x'.repeat(5_000)].map((value) => ({ [field]: value })),
      ),
    ];
    for (const body of bodies) {
      const answer = await ask(route, pathWith(route.url, known()), { body });
      if (answer.status !== 400) continue;
      rejected += 1;
      const errors = (answer.body['errors'] ?? []) as readonly { readonly path: string; readonly message: string }[];
      const all = [sentenceOf(answer), ...errors.map(({ message }) => message)];
      const [first] = errors;
      const isNamed = first === undefined || first.path === '' || sentenceOf(answer).includes(first.path);
      if (!isNamed || all.some((said) => LIBRARY.test(said) || !/^\S.*[.]$/.test(said)))
        odd.push(`${route.method} ${route.url} ${JSON.stringify(body).slice(0, 60)}: ${all.join(' | ')}`);
    }
  }
  expect(rejected).toBeGreaterThan(300);
  expect(odd).toEqual([]);
});

it.each([
  ['limit=0', 'limit must be at least 1.'],
  ['limit=many', 'limit must be a whole number.'],
  ['surprise=1', 'surprise is not a parameter of this operation, which takes limit, cursor, and spaceId.'],
  ['limit=1&limit=2', 'limit must be given once.'],
  ['spaceId=x', 'spaceId must be an id (a UUID).'],
])('a 400 names the parameter of ?%s', async (query, detail) => {
  expect((await platform.call(`/api/v1/core/agents?${query}`)).body).toMatchObject({
    status: 400,
    code: 'invalid_parameter',
    detail,
  });
});

describe('a wrong address says so', () => {
  it.each([
    [
      'GET',
      '/api/v1/core/agent',
      'Nothing is at /api/v1/core/agent. The API is at /api/v1, the gateway at /api/compat/v1; /docs lists all paths.',
    ],
    ['GET', '/', 'Nothing is at /. The API is at /api/v1, the gateway at /api/compat/v1; /docs lists all paths.'],
    [
      'GET',
      '/core/agents',
      'Nothing is at /core/agents. Did you mean /api/v1/core/agents? The base URL of the API ends with /api/v1.',
    ],
    [
      'POST',
      '/v1/agents',
      'Nothing is at /v1/agents. Did you mean /api/v1/core/agents? The base URL of the API ends with /api/v1.',
    ],
    ['GET', '/api/health', 'Nothing is at /api/health. Did you mean /health? All paths are listed at /docs.'],
  ])('for %s %s, with the address that may be meant', async (method, path, detail) => {
    expect((await platform.call(path, { method: method as 'GET' })).body).toMatchObject({
      status: 404,
      code: 'not_found',
      detail,
    });
  });

  it.each([
    '/v1/chat/completions',
    '/chat/completions',
    '/api/compat/chat/completions',
    '/api/compat/v1/v1/chat/completions',
    '/api/v1/chat/completions',
    '/openai/v1/chat/completions',
    '/v1/models',
  ])('to clients of the gateway at %s, in their form', async (path) => {
    const meant = path.endsWith('models') ? '/api/compat/v1/models' : '/api/compat/v1/chat/completions';
    const answer = await platform.call(path, {
      method: path.endsWith('models') ? 'GET' : 'POST',
      ...(path.endsWith('models') ? {} : { body: {} }),
    });
    expect([answer.status, sentenceOf(answer)]).toEqual([
      404,
      expect.stringContaining(
        `Nothing is at ${path}. Did you mean ${meant}? The base URL of the gateway ends with /api/compat/v1.`,
      ),
    ]);
    if (!path.startsWith('/api/v1/'))
      expect(answer.body['error']).toMatchObject({ type: 'invalid_request_error', code: 'unknown_url' });
  });

  it('as a wrong method does, with those that are taken', async () => {
    const core = await platform.call('/api/v1/core/agents', { method: 'DELETE' });
    expect([core.status, core.headers['allow'], core.body['detail']]).toEqual([
      405,
      'GET, HEAD, POST',
      '/api/v1/core/agents does not take DELETE. It takes GET, HEAD, POST.',
    ]);
    const gateway = await platform.call('/api/compat/v1/chat/completions');
    expect([gateway.status, gateway.headers['allow'], sentenceOf(gateway)]).toEqual([
      405,
      'POST',
      '/api/compat/v1/chat/completions does not take GET. It takes POST.',
    ]);
  });

  it('repeats no more than a part of a path that is long', async () => {
    expect(sentenceOf(await platform.call(`/${'x'.repeat(8_000)}`)).length).toBeLessThan(400);
  });
});
