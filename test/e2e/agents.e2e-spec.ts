import { READ_STORE, type ReadStore } from '@app/read-store';
import { startTestPlatform, type TestPlatform } from './harness';
import { asUnknown, UNKNOWN_ID } from './world';

interface Agent {
  readonly id: string;
  readonly revision: number;
  readonly systemPrompt: string;
  readonly memoryEnabled: boolean;
}

const AGENTS = '/api/v1/core/agents';
let platform: TestPlatform;
let alice: { userId: string; key: string };
let spaceId: string;
beforeAll(async () => {
  platform = await startTestPlatform();
  alice = await platform.newCaller();
  spaceId = (
    await platform.call<{ id: string }>('/api/v1/core/spaces', { key: alice.key, method: 'POST', body: { name: 'S1' } })
  ).body.id;
});
afterAll(() => platform.stop());

const create = (given: Record<string, unknown> = {}, key = alice.key) =>
  platform.call<Agent>(AGENTS, { key, method: 'POST', body: { spaceId, name: 'Helper', ...given } });
const put = (id: string, body: unknown, headers = {}) =>
  platform.call<Agent & { code?: string }>(`${AGENTS}/${id}`, { key: alice.key, method: 'PUT', body, headers });

describe('Agents', () => {
  it('are created with defaults and show every field of the wire', async () => {
    const { status, body } = await create({ description: 'D', systemPrompt: 'Be kind.' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: body.id,
      spaceId,
      name: 'Helper',
      description: 'D',
      model: 'local-chat',
      allowedModels: null,
      systemPrompt: 'Be kind.',
      isPersonal: false,
      memoryEnabled: true,
      sharedMemoryEnabled: false,
      knowledgeEnabled: true,
      includeAiSummary: false,
      codeExecutionEnabled: false,
      sampling: {
        temperature: { enabled: true, value: null },
        topP: { enabled: true, value: null },
        topK: { enabled: true, value: null },
      },
      tools: [],
      chunking: null,
      public: { enabled: false, allowedUrls: [], sessionMinutes: 0, windowTitle: '' },
      revision: 0,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect((await platform.call(`${AGENTS}/${body.id}`, { key: alice.key })).body).toEqual(body);
  });

  it('are made in the personal Space where none is named, for their owner alone', async () => {
    const { body } = await platform.call<Agent>(AGENTS, { key: alice.key, method: 'POST', body: { name: 'Mine' } });
    expect(body).toMatchObject({ isPersonal: true });
    expect((await platform.call(`${AGENTS}/${body.id}`)).status).toBe(404);
    expect((await platform.call(`${AGENTS}/${body.id}`, { key: alice.key, method: 'DELETE' })).status).toBe(204);
  });

  it('change the fields sent, within nested objects too, and nothing that is not theirs', async () => {
    const { body: agent } = await create();
    expect(
      (
        await put(agent.id, {
          sampling: { temperature: { value: 0.5 }, topK: { enabled: false } },
          public: { windowTitle: 'Hi' },
        })
      ).body,
    ).toMatchObject({
      name: 'Helper',
      sampling: {
        temperature: { enabled: true, value: 0.5 },
        topP: { enabled: true, value: null },
        topK: { enabled: false, value: null },
      },
      public: { enabled: false, windowTitle: 'Hi' },
      revision: 1,
    });
    expect(
      (
        await platform.call(`${AGENTS}/${agent.id}/prompt`, {
          key: alice.key,
          method: 'PUT',
          body: { systemPrompt: 'New' },
        })
      ).body,
    ).toMatchObject({ systemPrompt: 'New', revision: 2 });
    expect((await put(agent.id, { name: 'X' }, { 'if-match': '"0"' })).status).toBe(412);
    for (const field of ['id', 'spaceId', 'isPersonal', 'ownerId', 'createdAt', 'revision', '__proto__x'])
      expect((await put(agent.id, { [field]: true })).body).toMatchObject({ code: 'unknown_field' });
    expect((await put(agent.id, { sampling: { temperature: { value: 3 } } })).status).toBe(400);
    expect((await put(agent.id, { model: 'unknown' })).body).toMatchObject({
      code: 'invalid_body',
      errors: [{ path: 'model' }],
    });
    expect((await put(agent.id, { allowedModels: ['local-embedding'] })).body).toMatchObject({
      code: 'invalid_body',
      errors: [{ path: 'allowedModels' }],
    });
    expect((await platform.call<Agent>(`${AGENTS}/${agent.id}`, { key: alice.key })).body.revision).toBe(2);
  });

  it('lose their memory when they go public, and may not have it back', async () => {
    const { body: agent } = await create({ sharedMemoryEnabled: true });
    expect(
      (await put(agent.id, { public: { enabled: true, allowedUrls: ['https://Example.com/', '*.example.org:8443'] } }))
        .body,
    ).toMatchObject({
      memoryEnabled: false,
      sharedMemoryEnabled: false,
      revision: 1,
      public: { enabled: true, allowedUrls: ['https://example.com', '*.example.org:8443'] },
    });
    expect(await put(agent.id, { memoryEnabled: true })).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect((await put(agent.id, { public: { enabled: false }, memoryEnabled: true })).body).toMatchObject({
      memoryEnabled: true,
    });
  });

  it.each([
    "'none'",
    "'unsafe-inline'",
    'https://a.example;script-src *',
    'https://a.example,b',
    'a b',
    'data:',
    'javascript:alert(1)',
    'https://user@a.example',
    'https://a.example/path',
    'https://a.example\r\nx',
    '*.*',
    '',
    'a'.repeat(300),
  ])('reject %j as a place that may embed them', async (url) =>
    expect((await create({ public: { allowedUrls: [url] } })).status).toBe(400),
  );

  it('show their versions and go back to one', async () => {
    const { body: agent } = await create({ systemPrompt: 'One' });
    await put(agent.id, { systemPrompt: 'Two', name: 'Other' });
    const path = `${AGENTS}/${agent.id}/versions`;
    const { items } = (await platform.call<{ items: Record<string, unknown>[] }>(path, { key: alice.key })).body;
    expect(items).toMatchObject([
      { revision: 1, changes: { systemPrompt: 'Two', name: 'Other' }, restoredFrom: null },
      { revision: 0, changes: { systemPrompt: 'One', name: 'Helper' } },
    ]);
    expect((await platform.call(`${path}/0/restore`, { key: alice.key, method: 'POST' })).body).toMatchObject({
      systemPrompt: 'One',
      name: 'Helper',
      revision: 2,
    });
    expect((await platform.call<{ items: unknown[] }>(path, { key: alice.key })).body.items[0]).toMatchObject({
      revision: 2,
      restoredFrom: 0,
    });
    expect((await platform.call(`${path}/1`, { key: alice.key })).body).toEqual(items[0]);
    for (const revision of ['7', 'x', '-1'])
      expect((await platform.call(`${path}/${revision}`, { key: alice.key })).status).toBe(404);
    for (const revision of ['7', 'x', '-1', '00'])
      expect((await platform.call(`${path}/${revision}/restore`, { key: alice.key, method: 'POST' })).status).toBe(404);
  });

  it('are granted to the key that made them, and out of reach of keys without the grant, unknown ones alike', async () => {
    const narrow = await platform.newCaller({ allAgents: false });
    await platform.call(`/api/v1/core/spaces/${spaceId}/members/${narrow.userId}`, {
      key: alice.key,
      method: 'PUT',
      body: { role: 'editor' },
    });
    const { body: own } = await create({ name: 'Own' }, narrow.key);
    const { body: other } = await create({ name: 'Other' });
    expect((await platform.call(`${AGENTS}/${own.id}`, { key: narrow.key })).status).toBe(200);
    expect(
      (await platform.call<{ items: Agent[] }>(AGENTS, { key: narrow.key })).body.items.map(({ id }) => id),
    ).toEqual([own.id]);
    const ask = async (id: string, method: 'GET' | 'PUT' | 'DELETE') => {
      const { status, body } = await platform.call<Record<string, unknown>>(`${AGENTS}/${id}`, {
        key: narrow.key,
        method,
        ...(method === 'PUT' ? { body: {} } : {}),
      });
      return { status, ...body, requestId: '' };
    };
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      expect(await ask(other.id, method)).toMatchObject({ status: 403, code: 'agent_not_granted' });
      expect(JSON.parse(asUnknown(JSON.stringify(await ask(other.id, method)), other.id))).toEqual(
        await ask(UNKNOWN_ID, method),
      );
    }
  });

  it('are created once the key shows its grant, however late its view is', async () => {
    const { key, keyId } = await platform.newCaller({ allAgents: false });
    const store = platform.platform.app.get<ReadStore>(READ_STORE);
    const commit = store.commit.bind(store);
    const late = jest.spyOn(store, 'commit').mockImplementation(async (batch) => {
      // So late is the view: the creation must outlast it.
      if (batch.view === 'api-keys') await new Promise((resolve) => setTimeout(resolve, 300));
      return commit(batch);
    });
    const made = await platform.call<Agent>(AGENTS, { key, method: 'POST', body: { name: 'Own' } });
    late.mockRestore();
    const shown = await platform.call<{ agentIds: string[] }>(`/api/v1/core/api-keys/${keyId}`);
    expect([made.status, shown.body.agentIds]).toEqual([201, [made.body.id]]);
  });

  it('belong to their Space: viewers use, editors change, strangers know nothing', async () => {
    const { body: agent } = await create();
    const viewer = await platform.newCaller();
    const path = `${AGENTS}/${agent.id}`;
    expect((await platform.call(path, { key: viewer.key })).status).toBe(404);
    await platform.call(`/api/v1/core/spaces/${spaceId}/members/${viewer.userId}`, {
      key: alice.key,
      method: 'PUT',
      body: { role: 'viewer' },
    });
    expect((await platform.call(path, { key: viewer.key })).status).toBe(200);
    expect((await platform.call(path, { key: viewer.key, method: 'PUT', body: { name: 'X' } })).status).toBe(403);
    expect((await create({}, viewer.key)).status).toBe(403);
    await platform.call(`/api/v1/core/spaces/${spaceId}/members/${viewer.userId}`, {
      key: alice.key,
      method: 'DELETE',
    });
    expect((await platform.call(path, { key: viewer.key })).status).toBe(404);
    expect((await platform.call<{ items: Agent[] }>(AGENTS, { key: viewer.key })).body.items).toHaveLength(1);
  });

  it('are made once for one Idempotency-Key', async () => {
    const request = {
      key: alice.key,
      method: 'POST',
      headers: { 'idempotency-key': 'agent' },
      body: { spaceId, name: 'Once' },
    } as const;
    const [first, repeat] = [await platform.call<Agent>(AGENTS, request), await platform.call<Agent>(AGENTS, request)];
    expect(repeat.body).toEqual(first.body);
    expect((await platform.call(AGENTS, { ...request, body: { spaceId, name: 'Twice' } })).status).toBe(422);
  });
});
