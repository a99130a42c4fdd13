import type { ServedRoute } from '../../apps/api/src/http/route-table';
import { until } from '../fixtures/until';
import { completion, json } from '../fixtures/upstream-double';
import { startTestGateway, type TestGateway } from './gateway';
import type { Answer, Call, TestPlatform } from './harness';
import { asUnknown, pathWith, UNKNOWN_ID } from './world';

/** What members of one Space, and owners of several things, may not reach through each other. */

/** Words that stand in the things of one alone. */
const CANARY = { alice: 'Zanthoquill', bob: 'Vexolumir' } as const;

type Person = Awaited<ReturnType<TestPlatform['newCaller']>>;

let gateway: TestGateway;
let platform: TestPlatform;
let routes: readonly ServedRoute[];
let alice: Person;
let viewer: Person;
let editor: Person;
let bob: Person;
/** `a1` and `a2` are of one Space, `a9` of another, which is bob's. */
let ids: Readonly<Record<'s1' | 's9' | 'a1' | 'a2' | 'a9' | 'd1' | 'd2' | 'd9' | 't1' | 't9' | 'c1' | 'm1', string>>;

const core = (path: string): string => `/api/v1/core${path}`;
const post = async <T = { id: string }>(path: string, body: object, { key }: { key: string }): Promise<T> => {
  const answer = await platform.call<T>(core(path), { method: 'POST', key, body });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
  return answer.body;
};
const addDocument = async (agentId: string, word: string, by: Person): Promise<string> => {
  const { id } = await post(
    `/knowledge/${agentId}/documents`,
    { name: `${word}.md`, content: `# Ferries\n\nThe ferry to ${word} leaves at nine.`, mimeType: 'text/markdown' },
    by,
  );
  await until(
    async () =>
      (await platform.call<{ status: string }>(core(`/knowledge/${agentId}/documents/${id}`), { key: by.key })).body
        .status === 'Ready',
    'the document',
  );
  return id;
};

beforeAll(async () => {
  gateway = await startTestGateway();
  ({ platform } = gateway);
  gateway.upstream.behaviour = (response) => json(response, 200, completion({ content: 'At nine [1].' }, 'chat'));
  routes = platform.platform.routes.routes.filter(
    ({ method, url }) => method !== 'HEAD' && url.startsWith('/api/v1/core/'),
  );
  [alice, viewer, editor, bob] = [
    await platform.newCaller(),
    await platform.newCaller(),
    await platform.newCaller(),
    await platform.newCaller(),
  ];
  const newSpace = async (name: string, by: Person) => (await post('/spaces', { name }, by)).id;
  const newAgent = async (spaceId: string, by: Person) =>
    (await post('/agents', { spaceId, name: 'Guide', model: 'chat', knowledgeEnabled: true }, by)).id;
  const [s1, s9] = [await newSpace(`Of ${CANARY.alice}`, alice), await newSpace(`Of ${CANARY.bob}`, bob)];
  for (const [{ userId }, role] of [
    [viewer, 'viewer'],
    [editor, 'editor'],
  ] as const)
    await platform.call(core(`/spaces/${s1}/members/${userId}`), { method: 'PUT', key: alice.key, body: { role } });
  const [a1, a2, a9] = [await newAgent(s1, alice), await newAgent(s1, alice), await newAgent(s9, bob)];
  const [d1, d2, d9] = [
    await addDocument(a1, 'Plainham', alice),
    await addDocument(a2, CANARY.alice, alice),
    await addDocument(a9, CANARY.bob, bob),
  ];
  const [t1, t9] = [
    (await post(`/knowledge/${a1}/tags`, { name: 'Ours' }, alice)).id,
    (await post(`/knowledge/${a9}/tags`, { name: CANARY.bob }, bob)).id,
  ];
  const turn = await post<{ conversationId: string; message: { id: string } }>(
    `/llm/${a1}/conversation`,
    { message: `What of ${CANARY.alice}?` },
    alice,
  );
  ids = { s1, s9, a1, a2, a9, d1, d2, d9, t1, t9, c1: turn.conversationId, m1: turn.message.id };
}, 60_000);
afterAll(() => gateway.stop());

const ask = ({ method, declaration }: ServedRoute, path: string, call: Call): Promise<Answer> =>
  platform.call(path, {
    method: method as 'GET',
    headers: { 'x-request-id': 'same' },
    ...(declaration.body === undefined ? {} : { body: {} }),
    ...call,
  });

/** An answer without what tells two requests apart: the ids that were asked for among them. */
const told = ({ status, headers, text }: Answer, ...asked: readonly string[]): unknown => [
  status,
  headers['content-length'],
  headers['etag'],
  asUnknown(text, ...asked),
];

const callersEvents = async (): Promise<number> => {
  const { events } = await platform.platform.host.stores.log.readAll({ limit: 100_000 });
  return events.filter(({ metadata }) => !(JSON.parse(metadata) as { actor: string }).actor.startsWith('system:'))
    .length;
};

describe('a conversation', () => {
  it.each(['viewer', 'editor'] as const)(
    'is unknown on every route to another member of its Space (%s), and stays as it is',
    async (role) => {
      const { key } = { viewer, editor }[role];
      const own = await post<{ conversationId: string }>(`/llm/${ids.a1}/conversation`, { message: 'Hello?' }, { key });
      const of = routes.filter(({ url }) => url.includes(':conversationId'));
      expect(of.length).toBeGreaterThan(6);
      const before = await callersEvents();
      for (const route of of) {
        const given = { agentId: ids.a1, messageId: ids.m1 };
        const [foreign, unknown] = [
          await ask(route, pathWith(route.url, { ...given, conversationId: ids.c1 }), { key }),
          await ask(route, pathWith(route.url, given), { key }),
        ];
        expect([route.method, route.url, told(foreign, ids.c1)]).toEqual([route.method, route.url, told(unknown)]);
        expect([route.url, foreign.status]).toEqual([route.url, 404]);
        // A message is not reached through another conversation either.
        if (!route.url.includes(':messageId')) continue;
        expect([
          route.url,
          (await ask(route, pathWith(route.url, { ...given, conversationId: own.conversationId }), { key })).status,
        ]).toEqual([route.url, 404]);
      }
      expect(await callersEvents()).toBe(before);
    },
  );

  it('is not gone on with by another member: nothing is added to it, and no model is told of it', async () => {
    const before = await callersEvents();
    gateway.upstream.calls.length = 0;
    for (const stream of [false, true]) {
      const turn = (conversationId: string, more = {}) =>
        platform.call(core(`/llm/${ids.a1}/conversation`), {
          method: 'POST',
          key: editor.key,
          headers: { 'x-request-id': 'same' },
          body: { message: 'And then?', conversationId, stream, ...more },
        });
      const [foreign, unknown] = [await turn(ids.c1), await turn(UNKNOWN_ID)];
      expect([foreign.status, told(foreign, ids.c1)]).toEqual([404, told(unknown)]);
    }
    expect([await callersEvents(), gateway.upstream.calls]).toEqual([before, []]);
    const begun = await platform.call(core(`/llm/${ids.a1}/conversation`), {
      method: 'POST',
      key: editor.key,
      body: { message: 'And then?', parentId: ids.m1 },
    });
    expect(begun.status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(gateway.upstream.calls)).not.toContain(CANARY.alice);
  });

  it('is listed to nobody else', async () => {
    for (const { key } of [viewer, editor]) {
      const { items } = (await platform.call<{ items: { id: string }[] }>(core(`/llm/${ids.a1}/conversation`), { key }))
        .body;
      expect(items.map(({ id }) => id)).not.toContain(ids.c1);
    }
    expect((await platform.call(core(`/llm/${ids.a1}/conversation`))).status).toBe(404);
  });
});

describe('a document', () => {
  it.each(['d2', 'd9'] as const)(
    'of another Agent is unknown through this one, on every route, and no body is read (%s)',
    async (document) => {
      const get = jest.spyOn(platform.platform.host.stores.blobs, 'get');
      const before = await callersEvents();
      for (const route of routes.filter(({ url }) => url.includes(':documentId'))) {
        const given = { agentId: ids.a1, tagId: ids.t1 };
        const [foreign, unknown] = [
          await ask(route, pathWith(route.url, { ...given, documentId: ids[document] }), { key: alice.key }),
          await ask(route, pathWith(route.url, given), { key: alice.key }),
        ];
        expect([route.method, route.url, told(foreign, ids[document])]).toEqual([
          route.method,
          route.url,
          told(unknown),
        ]);
        expect([route.method, route.url, foreign.status]).toEqual([route.method, route.url, 404]);
      }
      expect([get.mock.calls, await callersEvents()]).toEqual([[], before]);
      get.mockRestore();
    },
  );

  it('takes no tag of another Space, by no route', async () => {
    const before = await callersEvents();
    const path = `/knowledge/${ids.a1}/documents`;
    const tries: (readonly [string, Call])[] = [
      [`${path}/${ids.d1}/tags/$`, { method: 'POST' }],
      [`${path}/${ids.d1}/tags/$`, { method: 'DELETE' }],
      [`${path}/${ids.d1}`, { method: 'PUT', body: { tagIds: ['$'] } }],
      [path, { method: 'POST', body: { name: 'x', content: 'x', mimeType: 'text/plain', tagIds: ['$'] } }],
      [`/knowledge/${ids.a1}/tags/$`, { method: 'GET' }],
      [`/knowledge/${ids.a1}/tags/$`, { method: 'PUT', body: { name: 'Mine' } }],
      [`/knowledge/${ids.a1}/tags/$`, { method: 'DELETE' }],
    ];
    for (const [to, { body, ...call }] of tries) {
      const send = (tagId: string) =>
        platform.call(core(to.replace('$', tagId)), {
          ...call,
          key: alice.key,
          headers: { 'x-request-id': 'same' },
          ...(body === undefined ? {} : { payload: JSON.stringify(body).replace('$', tagId) }),
        });
      const [foreign, unknown] = [await send(ids.t9), await send(UNKNOWN_ID)];
      expect([call.method, to, foreign.status, told(foreign, ids.t9)]).toEqual([call.method, to, 404, told(unknown)]);
    }
    expect(await callersEvents()).toBe(before);
    for (const tagId of [ids.t9, UNKNOWN_ID])
      expect(
        (await platform.call<{ items: object[] }>(core(`${path}?tagId=${tagId}`), { key: alice.key })).body.items,
      ).toEqual([]);
  });
});

describe('a search', () => {
  it.each(['text', 'vector', 'hybrid'])(
    'finds nothing of other Agents and Spaces, whatever it asks for (%s)',
    async (mode) => {
      for (const [agentId, { key }, word] of [
        [ids.a1, alice, CANARY.alice],
        [ids.a1, alice, CANARY.bob],
        [ids.a9, bob, CANARY.alice],
        [ids.a2, alice, CANARY.bob],
      ] as const) {
        const find = (more: object) =>
          platform.call(core(`/knowledge/${agentId}/search`), {
            method: 'POST',
            key,
            headers: { 'x-request-id': 'same' },
            body: { query: `The ferry to ${word}`, mode, topK: 100, ...more },
          });
        const { status, text } = await find({});
        expect([agentId, word, status, text.includes(word)]).toEqual([agentId, word, 200, false]);
        const foreign = agentId === ids.a9 ? ids.t1 : ids.t9;
        expect([agentId, told(await find({ tagIds: [foreign] }), foreign)]).toEqual([
          agentId,
          told(await find({ tagIds: [UNKNOWN_ID] })),
        ]);
      }
      expect(
        (
          await platform.call(core(`/knowledge/${ids.a9}/search`), {
            method: 'POST',
            key: bob.key,
            body: { query: `The ferry to ${CANARY.bob}`, mode },
          })
        ).text,
      ).toContain(CANARY.bob);
    },
  );

  it('of an answer gives the model nothing of theirs', async () => {
    gateway.upstream.calls.length = 0;
    await post(`/llm/${ids.a1}/conversation`, { message: 'When does the ferry leave for Plainham?' }, viewer);
    const told = JSON.stringify(gateway.upstream.calls);
    expect([told.includes('Plainham leaves at nine'), told.includes(CANARY.alice), told.includes(CANARY.bob)]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

it('a viewer changes nothing: not one route of a Space or its Agents writes for them', async () => {
  const readsOnly = ({ method, url }: ServedRoute): boolean =>
    method === 'GET' || url.endsWith('/search') || url.includes('/llm/');
  const writing = routes.filter((route) => /:(spaceId|agentId)/.test(route.url) && !readsOnly(route));
  expect(writing.length).toBeGreaterThan(20);
  const promptId = (await post(`/spaces/${ids.s1}/prompts`, { title: 'T', text: 'x' }, alice)).id;
  const before = await callersEvents();
  for (const route of writing) {
    const path = pathWith(route.url, {
      spaceId: ids.s1,
      agentId: ids.a1,
      documentId: ids.d1,
      tagId: ids.t1,
      promptId,
      userId: alice.userId,
      revision: '0',
    });
    const { status, body } = await ask(route, path, { key: viewer.key });
    expect([route.method, route.url, status, body['code']]).toEqual([route.method, route.url, 403, 'forbidden']);
  }
  expect(await callersEvents()).toBe(before);
});

it('what was deleted is as unknown as what never was, on every route', async () => {
  const spaceId = (await post('/spaces', { name: 'Short-lived' }, alice)).id;
  const agentId = (await post('/agents', { spaceId, name: 'Guide', model: 'chat' }, alice)).id;
  const [promptId, tagId, documentId] = [
    (await post(`/spaces/${spaceId}/prompts`, { title: 'T', text: 'x' }, alice)).id,
    (await post(`/knowledge/${agentId}/tags`, { name: 'Gone' }, alice)).id,
    await addDocument(agentId, 'Nowhere', alice),
  ];
  const { conversationId } = await post<{ conversationId: string }>(
    `/llm/${agentId}/conversation`,
    { message: 'Hello?' },
    alice,
  );
  const same = async (given: Readonly<Record<string, string>>, gone: readonly string[]) => {
    const kept = Object.fromEntries(Object.entries(given).filter(([name]) => !gone.includes(name)));
    for (const route of routes.filter(({ url }) => gone.some((name) => url.includes(`:${name}`)))) {
      const [deleted, unknown] = [
        await ask(route, pathWith(route.url, given), { key: alice.key }),
        await ask(route, pathWith(route.url, kept), { key: alice.key }),
      ];
      expect([route.method, route.url, told(deleted, ...gone.map((name) => given[name] ?? ''))]).toEqual([
        route.method,
        route.url,
        told(unknown),
      ]);
      expect([route.method, route.url, deleted.status >= 400 && deleted.status < 500]).toEqual([
        route.method,
        route.url,
        true,
      ]);
    }
  };
  const given = {
    spaceId,
    agentId,
    promptId,
    tagId,
    documentId,
    conversationId,
    userId: alice.userId,
    messageId: ids.m1,
    revision: '0',
  };
  for (const [path, name] of [
    [`/llm/${agentId}/conversation/${conversationId}`, 'conversationId'],
    [`/knowledge/${agentId}/documents/${documentId}`, 'documentId'],
    [`/knowledge/${agentId}/tags/${tagId}`, 'tagId'],
    [`/spaces/${spaceId}/prompts/${promptId}`, 'promptId'],
    [`/agents/${agentId}`, 'agentId'],
    [`/spaces/${spaceId}`, 'spaceId'],
  ] as const) {
    expect([path, (await platform.call(core(path), { method: 'DELETE', key: alice.key })).status]).toEqual([path, 204]);
    await same(given, [name]);
  }
});
