import { ADMIN_KEY } from '../e2e/harness';
import { until } from '../fixtures/until';
import { dyingProduct } from './processes/dying-product';
import { type Doomed, killedAmid } from './processes/killed-amid';

/** Faults 1 and 2: kill -9 before each append of requests that append more than once. What such a request did is finished, or taken back. */

const CORE = '/api/v1/core';
/** What nobody comes back to is taken back within a minute. */
const TIMEOUT_MS = 90_000;

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly key?: string;
  readonly body: object | FormData;
}

const product = dyingProduct('several-appends-kill');
let names = 0;

const send = async (
  { method = 'POST', path, key = ADMIN_KEY, body }: Sent,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => {
  const isForm = body instanceof FormData;
  const response = await fetch(`${product.child.url}${CORE}${path}`, {
    method,
    headers: { ...headers, 'x-api-key': key, ...(isForm ? {} : { 'content-type': 'application/json' }) },
    body: isForm ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
};
const get = async (path: string): Promise<Answer['body']> =>
  (await (
    await fetch(`${product.child.url}${CORE}${path}`, { headers: { 'x-api-key': ADMIN_KEY } })
  ).json()) as Answer['body'];
const items = async (path: string) => (await get(path))['items'] as readonly Readonly<Record<string, unknown>>[];
const made = async (path: string, body: object): Promise<Answer['body']> => {
  const answer = await send({ path, body });
  expect(answer.status).toBe(201);
  return answer.body;
};
const name = (): string => `thing-${(names += 1)}`;

const requests: readonly (readonly [
  title: string,
  appends: number,
  prepare: () => Promise<{ readonly sent: Sent; readonly check: (answer: Answer) => Promise<void> }>,
])[] = [
  [
    'POST /agents',
    2,
    async () => {
      const { sent, granted } = await ownAgent();
      // Behind a start a view may be later than an answer waits for it.
      const check = async ({ body }: Answer) => {
        await until(async () => (await granted()).length > 0, 'the grant');
        expect(await granted()).toEqual([body['id']]);
      };
      return { sent, check };
    },
  ],
  [
    'POST /users of an admin',
    3,
    async () => {
      const email = `${name()}@example.com`;
      const check = async ({ body }: Answer) => {
        expect((await items('/users?limit=100')).filter((user) => user['email'] === email).map(({ id }) => id)).toEqual(
          [body['id']],
        );
        const suspended = await send({ path: `/users/${String(body['id'])}/suspend`, body: {} });
        expect([suspended.status, suspended.body['status']]).toEqual([200, 'suspended']);
      };
      return { sent: { path: '/users', body: { email, name: 'Admin', role: 'admin' } }, check };
    },
  ],
  [
    'PUT /spaces/{id} with another name',
    3,
    async () => {
      const [before, after] = [name(), name()];
      const space = await made('/spaces', { name: before });
      const check = async ({ body }: Answer) => {
        expect([body['id'], body['name']]).toEqual([space['id'], after]);
        await until(
          async () => (await send({ path: '/spaces', body: { name: before } })).status === 201,
          'the name that it gave up',
          { patience: TIMEOUT_MS, every: 100 },
        );
        expect((await send({ path: '/spaces', body: { name: after } })).status).toBe(409);
      };
      return { sent: { method: 'PUT', path: `/spaces/${String(space['id'])}`, body: { name: after } }, check };
    },
  ],
  [
    'POST /knowledge/{agentId}/documents/bulk that deletes',
    3,
    async () => {
      const agent = await made('/agents', { name: 'Guide', knowledgeEnabled: false });
      const path = `/knowledge/${String(agent['id'])}/documents`;
      const documentIds: unknown[] = [];
      for (let n = 0; n < 3; n += 1) {
        const body = { name: name(), content: 'A guide.', mimeType: 'text/plain' };
        documentIds.push((await send({ path, body })).body['id']);
      }
      const check = async ({ body }: Answer) => {
        expect(body['results']).toEqual(documentIds.map((documentId) => ({ documentId, ok: true })));
        await until(async () => (await items(path)).length === 0, 'that they are gone');
      };
      return { sent: { path: `${path}/bulk`, body: { operation: 'delete', documentIds } }, check };
    },
  ],
];
const kills = requests.flatMap(([title, appends, prepare]) =>
  Array.from({ length: appends }, (_, index) => ({ title, n: index + 1, prepare })),
);

/** An Agent that a key of a user makes for itself; what it may reach then. */
const ownAgent = async () => {
  const user = await made('/users', { email: `${name()}@example.com`, name: 'Somebody', role: 'member' });
  const key = await made('/api-keys', {
    name: 'key',
    agentIds: [],
    permissions: ['agents:read', 'agents:write'],
    userId: user['id'],
  });
  const granted = async () => (await get(`/api-keys/${String(key['id'])}`))['agentIds'] as readonly unknown[];
  return { sent: { path: '/agents', key: String(key['secret']), body: { name: 'Mine' } }, granted };
};

/** Requests that are killed together, each before an append of its own. */
const doomed: Doomed[] = [];
const dies = (sent: Sent, at: number, headers: Readonly<Record<string, string>> = {}): void =>
  void doomed.push({ at, raced: false, send: async (id) => (await send(sent, { ...headers, ...id })).status });
const prepared: (Awaited<ReturnType<(typeof kills)[number]['prepare']>> & {
  readonly headers: Record<string, string>;
})[] = [];
let unrepeated: Awaited<ReturnType<typeof ownAgent>>;
let uploads: string;
beforeAll(async () => {
  for (const { n, prepare } of kills) {
    const headers = { 'idempotency-key': name() };
    const { sent, check } = await prepare();
    prepared.push({ sent, check, headers });
    dies(sent, n, headers);
  }
  unrepeated = await ownAgent();
  dies(unrepeated.sent, 2);
  const agent = await made('/agents', { name: 'Guide', knowledgeEnabled: false });
  uploads = `/knowledge/${String(agent['id'])}/documents`;
  const body = new FormData();
  for (const number of [1, 2])
    body.append('file', new Blob(['# A guide\n'], { type: 'text/markdown' }), `${number}.md`);
  dies({ path: uploads, body }, 2);
  await killedAmid(product.child, doomed);
  await product.start();
});

// First, while nothing of it is taken back.
it('an upload of two files, killed before the second, has the first for a while', async () => {
  expect((await items(uploads)).map((document) => document['name'])).toEqual(['1.md']);
});

it.each(kills.map((each, index) => ({ ...each, index })))(
  '$title, killed before append $n, is done once by a repeat',
  async ({ index }) => {
    const { sent, check, headers } = prepared[index] as (typeof prepared)[number];
    const again = await send(sent, headers);
    expect(again.status).toBeLessThan(300);
    await check(again);
    expect(await send(sent, headers)).toEqual(again);
  },
);

it('an Agent whose process is killed before its grant is granted to its key without a repeat', async () => {
  await until(async () => (await unrepeated.granted()).length === 1, 'the grant', { patience: TIMEOUT_MS, every: 100 });
});

it('an upload of two files, killed before the second, leaves neither', async () => {
  await until(async () => (await items(uploads)).length === 0, 'its withdrawal', { patience: TIMEOUT_MS, every: 250 });
});
