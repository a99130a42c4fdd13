import type { ServedRoute } from '@app/http';
import { pathWith } from './world';
import {
  addDocument,
  alice,
  ask,
  callersEvents,
  core,
  ids,
  platform,
  post,
  routes,
  told,
  viewer,
  withTenants,
} from './tenants-world';

withTenants();

it('a viewer changes nothing: not one route of a Space or its Agents writes for them', async () => {
  const readsOnly = ({ method, url }: ServedRoute): boolean =>
    method === 'GET' || url.endsWith('/search') || url.endsWith('/download') || isTheirOwn(url);
  // Conversations and memories of whoever uses an Agent.
  const isTheirOwn = (url: string): boolean => url.includes('/llm/') || url.includes('/memory/');
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
  expect(await callersEvents()).toEqual(before);
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
