import { createHash } from 'node:crypto';
import { apiKeyDecider } from '@app/identity';
import { until } from '../fixtures/until';
import { follow } from './follow';
import { startTestPlatform, type TestPlatform } from './harness';

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}
interface Event {
  readonly id: string;
  readonly position: string;
  readonly ordinal: number | null;
  readonly stream: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, string>>;
  readonly recordedAt: string;
  readonly raw?: { readonly data: string; readonly metadata: string };
}
interface HistoryItem {
  readonly position: string;
  readonly at: string;
  readonly type: string;
  readonly actor: string;
  readonly changes: readonly { readonly path: string; readonly before: unknown; readonly after: unknown }[];
}

let platform: TestPlatform;
let agentId: string;
let spaceId: string;
let auditor: string;

beforeAll(async () => {
  platform = await startTestPlatform({ listen: true });
  auditor = (await platform.newCaller({ role: 'auditor', permissions: ['audit:read'], agentIds: [], allAgents: false }))
    .key;
  spaceId = (await create('/api/v1/core/spaces', { name: 'Audited' })).id;
  agentId = (
    await create('/api/v1/core/agents', {
      spaceId,
      name: 'Before',
      description: 'a secret plan',
      systemPrompt: 'be brief',
    })
  ).id;
  await platform.call(`/api/v1/core/agents/${agentId}`, { method: 'PUT', body: { name: 'After' } });
});
afterAll(() => platform.stop());

const create = async (path: string, body: unknown) =>
  (await platform.call<{ id: string }>(path, { method: 'POST', body })).body;
const events = async (query: string, key?: string) =>
  platform.call<Page<Event>>(`/api/v1/audit/events${query}`, key === undefined ? {} : { key });
const object = async (path: string, key?: string) =>
  platform.call(`/api/v1/audit/objects/${path}`, key === undefined ? {} : { key });
const history = async (path: string, key?: string) =>
  platform.call<Page<HistoryItem>>(`/api/v1/audit/objects/${path}/history`, key === undefined ? {} : { key });
const ofAgent = () => `?stream=agent-${agentId}`;

/** Every event a list holds, following its cursors. */
const everything = async (query: string): Promise<Event[]> => {
  const found: Event[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await events(`${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    found.push(...body.items);
    cursor = body.nextCursor;
  }
  return found;
};

describe('the events of the log', () => {
  it('are listed newest first, page by page, none twice and none left out', async () => {
    const all = await everything('?limit=100');
    const paged = await everything('?limit=3');
    expect(paged.slice(-all.length).map(({ position }) => position)).toEqual(all.map(({ position }) => position));
    expect(all.map(({ position }) => position)).toEqual(
      all
        .map(({ position }) => position)
        .toSorted()
        .toReversed(),
    );
    const forwards = await everything('?limit=4&order=asc');
    expect(forwards.slice(0, all.length).map(({ id }) => id)).toEqual(all.toReversed().map(({ id }) => id));
  });

  it.each([
    ['stream', (event: Event) => event.stream],
    ['type', (event: Event) => event.type],
    ['category', (event: Event) => event.stream.slice(0, event.stream.indexOf('-'))],
    ['actor', (event: Event) => event.meta['actor']],
    ['correlationId', (event: Event) => event.meta['$correlationId']],
  ])('are filtered by %s, equal to filtering the whole log', async (filter, value) => {
    const wanted = encodeURIComponent(String(value((await events(ofAgent())).body.items[0] as Event)));
    const before = (await events('?limit=1')).body.items[0]?.position ?? '';
    const expected = (await everything('?limit=100')).filter(
      (event) => event.position <= before && value(event) === decodeURIComponent(wanted),
    );
    const found = (await everything(`?${filter}=${wanted}&limit=2`)).filter(({ position }) => position <= before);
    expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    expect(found.length).toBeGreaterThan(0);
  });

  it('are filtered by the time they were recorded, both ends included', async () => {
    const [last, first] = (await events(ofAgent())).body.items as [Event, Event];
    const span = (from: string, to: string) => events(`${ofAgent()}&from=${from}&to=${to}`);
    expect((await span(first.recordedAt, last.recordedAt)).body.items).toHaveLength(2);
    expect((await span(first.recordedAt, first.recordedAt)).body.items.map(({ id }) => id)).toEqual([first.id]);
    expect((await span('2020-01-01T00:00:00Z', '2020-01-02T00:00:00Z')).body.items).toEqual([]);
    expect((await events('?from=2020-01-01T00:00:00Z&limit=1')).body.items).toHaveLength(1);
    expect((await events('?to=9999-12-31T23:59:59Z&limit=1')).body.items).toHaveLength(1);
  });

  it.each([
    '?limit=0',
    '?order=up',
    '?from=yesterday',
    '?to=9999-12-31T23:59:59-01:00',
    '?after=nowhere',
    '?unknown=1',
    '?follow=maybe',
    '?stream=',
  ])('refuse %s', async (query) => {
    const { status, body } = await events(query);
    expect([status, body]).toEqual([400, expect.objectContaining({ code: 'invalid_parameter' })]);
  });

  it('get their ordinals once they are sealed, and a proof that leads to the seal', async () => {
    const [event] = (await events(ofAgent())).body.items as [Event];
    await until(async () => (await events(ofAgent())).body.items.every(({ ordinal }) => ordinal !== null));
    const { status, body } = await platform.call<{
      event: { id: string; content: string };
      path: string[];
      seal: { root: string; ordinal: number };
    }>(`/api/v1/audit/proof/${event.id}`);
    expect([status, body.event.id]).toEqual([200, event.id]);
    const seals =
      await platform.call<Page<{ ordinal: number; root: string; signature: string }>>('/api/v1/audit/seals');
    expect(seals.body.items.map(({ root }) => root)).toContain(body.seal.root);
    expect((await platform.call('/api/v1/audit/seals/key')).body).toMatchObject({ algorithm: 'Ed25519' });
    expect(
      (await platform.call<Page<unknown>>(`/api/v1/audit/seals?after=${seals.body.items.at(-1)?.ordinal ?? 0}`)).status,
    ).toBe(200);
    expect((await platform.call('/api/v1/audit/proof/00000000-0000-7000-8000-000000000000')).status).toBe(404);
  });

  it('carry the stored bytes where asked for', async () => {
    const [event] = (await events(`${ofAgent()}&raw=true`)).body.items as [Event];
    expect(JSON.parse(Buffer.from(event.raw?.metadata ?? '', 'base64').toString())).toEqual(event.meta);
    expect(
      createHash('sha256')
        .update(Buffer.from(event.raw?.data ?? '', 'base64'))
        .digest('hex'),
    ).toHaveLength(64);
  });

  it('show nobody what was made of a secret, not in the stored bytes either', async () => {
    const { keyId } = await platform.newCaller();
    const { state } = await platform.platform.host.stores.decisions.load(apiKeyDecider, keyId);
    const hash = 'secretHash' in state ? state.secretHash : undefined;
    expect(hash).toMatch(/^[\w-]{20,}$/);
    const [created] = (await events(`?stream=apiKey-${keyId}&content=true&raw=true`)).body.items as [Event];
    expect(created.data).toMatchObject({ name: 'test', secretHash: { encrypted: true } });
    expect(Buffer.from(created.raw?.data ?? '', 'base64').toString()).not.toContain(hash);
  });

  it('are sent as they are recorded to who follows', async () => {
    const leave = new AbortController();
    const { headers, heard, ended } = await follow(
      `${platform.url}/api/v1/audit/events?follow=true&stream=agent-${agentId}`,
      auditor,
      leave.signal,
    );
    expect(headers.get('content-type')).toContain('text/event-stream');
    await until(() => heard.length > 0);
    await platform.call(`/api/v1/core/agents/${agentId}`, { method: 'PUT', body: { name: 'Followed' } });
    await until(() => heard.join('').includes('"type":"AgentChanged"'));
    expect(heard.join('')).toMatch(/^id: \d+\n(.*\n)?data: .*"type":"AgentChanged"/m);
    leave.abort();
    await ended;
  });
});

describe('content', () => {
  it('reads as encrypted to who did not ask for it', async () => {
    const { body } = await events(`${ofAgent()}&order=asc`, auditor);
    expect(body.items[0]?.data).toMatchObject({ description: { encrypted: true }, systemPrompt: { encrypted: true } });
    expect(JSON.stringify(body)).not.toContain('secret plan');
  });

  it('is refused without audit:content', async () => {
    expect((await events('?content=true', auditor)).status).toBe(403);
    expect((await object(`agent/${agentId}?content=true`, auditor)).status).toBe(403);
  });

  it('is shown with audit:content, and the look is an event itself', async () => {
    const { body } = await events(`${ofAgent()}&order=asc&content=true`);
    expect(body.items[0]?.data).toMatchObject({ description: 'a secret plan' });
    let look: Event | undefined;
    await until(
      async () => (look = (await events('?type=AuditorLookedAtContent')).body.items[0]) !== undefined,
      'the look in the index',
    );
    expect(look?.data).toMatchObject({
      asked: { stream: `agent-${agentId}` },
      events: body.items.length,
      first: body.items[0]?.position,
    });
    expect(look?.meta['actor']).toMatch(/^key:/);
  });
});

describe('one object', () => {
  it('is shown as its API would have shown it at a position or a time', async () => {
    const now = (await platform.call(`/api/v1/core/agents/${agentId}`)).body;
    expect((await object(`agent/${agentId}`)).body).toMatchObject({
      name: now['name'],
      description: 'a secret plan',
      sampling: now['sampling'],
      revision: now['revision'],
    });
    const created = (await history(`agent/${agentId}`)).body.items.at(-1) as HistoryItem;
    expect((await object(`agent/${agentId}?at=${created.position}`)).body).toMatchObject({ name: 'Before' });
    expect((await object(`agent/${agentId}?at=${created.at}`)).body).toMatchObject({ id: agentId });
    expect((await object(`agent/${agentId}?at=2020-01-01T00:00:00Z`)).status).toBe(404);
    expect((await object(`agent/${agentId}?at=nowhere`)).status).toBe(400);
  });

  it('hides its content from who may not see it', async () => {
    const { body } = await object(`agent/${agentId}`, auditor);
    expect(body).toMatchObject({ id: agentId, description: { encrypted: true } });
    expect((await history(`agent/${agentId}`, auditor)).text).not.toContain('secret plan');
  });

  it('has a history of what changed, by whom and when', async () => {
    const { body } = await history(`agent/${agentId}`);
    expect(body.items.at(-1)).toMatchObject({ type: 'AgentCreated', actor: expect.stringMatching(/^key:/) as unknown });
    expect(body.items.at(-2)?.changes).toEqual(
      expect.arrayContaining([{ path: 'name', before: 'Before', after: 'After' }]),
    );
  });

  it('keeps its history when it is deleted; its content reads as erased', async () => {
    const id = (await create('/api/v1/core/agents', { spaceId, name: 'Short-lived', description: 'soon gone' })).id;
    const created = (await history(`agent/${id}`)).body.items[0] as HistoryItem;
    await platform.call(`/api/v1/core/agents/${id}`, { method: 'DELETE' });
    expect((await object(`agent/${id}`)).status).toBe(404);
    await until(async () => !(await history(`agent/${id}`)).text.includes('soon gone'), 'the erasure');
    expect((await history(`agent/${id}`)).body.items.map(({ type }) => type)).toEqual(['AgentDeleted', 'AgentCreated']);
    expect((await object(`agent/${id}?at=${created.position}`)).body).toMatchObject({
      id,
      description: { erased: true },
    });
  });

  it.each(['agent/00000000-0000-7000-8000-000000000000', 'nothing/1', 'constructor/1'])(
    '%s is not found',
    async (path) => {
      expect([(await object(path)).status, (await history(path)).status]).toEqual([404, 404]);
    },
  );
});

describe('every kind of object', () => {
  const at = (path: string) => `/api/v1/core${path}`;
  const shown: Record<string, { id: string; path: string; without?: readonly string[] }> = {};

  beforeAll(async () => {
    const tag = await create(at(`/knowledge/${agentId}/tags`), { name: 'Travel' });
    const document = await create(at(`/knowledge/${agentId}/documents`), {
      name: 'ferries.md',
      content: '# Ferries\n\nThe ferry leaves at nine.',
      mimeType: 'text/markdown',
      tagIds: [tag.id],
    });
    await until(
      async () =>
        (await platform.call(at(`/knowledge/${agentId}/documents/${document.id}`))).body['status'] === 'Ready',
      'the document',
    );
    const turn = await platform.call<{ conversationId: string; message: { id: string } }>(
      at(`/llm/${agentId}/conversation`),
      { method: 'POST', body: { message: 'When does the ferry leave?' } },
    );
    const conversation = at(`/llm/${agentId}/conversation/${turn.body.conversationId}`);
    const caller = await platform.newCaller();
    Object.assign(shown, {
      user: { id: caller.userId, path: at(`/users/${caller.userId}`) },
      apiKey: { id: caller.keyId, path: at(`/api-keys/${caller.keyId}`) },
      space: { id: spaceId, path: at(`/spaces/${spaceId}`), without: ['role'] },
      agent: { id: agentId, path: at(`/agents/${agentId}`) },
      document: { id: document.id, path: at(`/knowledge/${agentId}/documents/${document.id}`) },
      tag: { id: tag.id, path: at(`/knowledge/${agentId}/tags/${tag.id}`) },
      conversation: { id: turn.body.conversationId, path: conversation },
      message: { id: turn.body.message.id, path: `${conversation}/messages` },
    });
  }, 60_000);

  it.each(['user', 'apiKey', 'space', 'agent', 'document', 'tag', 'conversation', 'message'])(
    '%s is shown as its API shows it',
    async (kind) => {
      const { id, path, without = [] } = shown[kind] ?? { id: '', path: '' };
      const { status, body } = await platform.call<{ items?: Record<string, unknown>[] } & Record<string, unknown>>(
        path,
      );
      const now = body.items === undefined ? body : (body.items.find((item) => item['id'] === id) ?? {});
      const withoutThese = (given: Readonly<Record<string, unknown>>) =>
        Object.fromEntries(Object.entries(given).filter(([name]) => !without.includes(name)));
      expect(status).toBe(200);
      expect(withoutThese((await object(`${kind}/${id}`)).body)).toEqual(withoutThese(now));
      expect((await history(`${kind}/${id}`)).body.items.length).toBeGreaterThan(0);
    },
  );
});

it('a document shows its tags as they were called then', async () => {
  const tag = await create(`/api/v1/core/knowledge/${agentId}/tags`, { name: 'Draft', color: '#ff0000' });
  const { id } = await create(`/api/v1/core/knowledge/${agentId}/documents`, {
    name: 'b',
    content: 'b',
    mimeType: 'text/plain',
    tagIds: [tag.id],
  });
  const created = (await history(`document/${id}`)).body.items.at(-1) as HistoryItem;
  await platform.call(`/api/v1/core/knowledge/${agentId}/tags/${tag.id}`, { method: 'PUT', body: { name: 'Final' } });
  const named = (name: unknown) => ({ tags: [{ id: tag.id, name, color: '#ff0000' }] });
  expect((await object(`document/${id}?at=${created.position}`)).body).toMatchObject(named('Draft'));
  expect((await object(`document/${id}`)).body).toMatchObject(named('Final'));
  expect((await object(`document/${id}`, auditor)).body).toMatchObject(named({ encrypted: true }));
  const renamed = (await history(`document/${id}`)).body.items.find(({ type }) => type === 'TagUpdated');
  expect(renamed?.changes).toEqual([{ path: 'tags[0].name', before: 'Draft', after: 'Final' }]);
  await platform.call(`/api/v1/core/knowledge/${agentId}/tags/${tag.id}`, { method: 'DELETE' });
  expect((await object(`document/${id}`)).body).toMatchObject({ tags: [] });
});

describe('who may audit', () => {
  it.each(['/api/v1/audit/events', '/api/v1/audit/seals', '/api/v1/audit/objects/agent/1', '/api/v1/audit/proof/1'])(
    'members of a Space and operators may not: %s',
    async (path) => {
      const member = await platform.newCaller();
      const operator = await platform.newCaller({ role: 'operator', permissions: ['operations'] });
      expect([
        (await platform.call(path, { key: member.key })).status,
        (await platform.call(path, { key: operator.key })).status,
        (await platform.call(path, { key: null })).status,
      ]).toEqual([403, 403, 401]);
    },
  );
});
