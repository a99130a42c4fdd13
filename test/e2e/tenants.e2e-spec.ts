import type { Call } from './harness';
import { pathWith, UNKNOWN_ID } from './world';
import {
  alice,
  ask,
  bob,
  callersEvents,
  CANARY,
  core,
  editor,
  gateway,
  ids,
  platform,
  post,
  routes,
  told,
  viewer,
  withTenants,
} from './tenants-world';

withTenants();

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
      expect(await callersEvents()).toEqual(before);
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
    expect(await callersEvents()).toEqual(before);
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
