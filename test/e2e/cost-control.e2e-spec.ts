import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { READ_STORE, type ReadStore } from '@app/read-store';
import OpenAI, { RateLimitError } from 'openai';
import { invocation, recordInvocations } from '../fixtures/invocations';
import { until } from '../fixtures/until';
import { behaves, completion, json, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

const CORE = '/api/v1/core';
const LIMITS = `${CORE}/cost-control`;
/** (15 x 1 + 4 x 0.1 + 10 x 2) / 1,000,000: what every call of the double costs. */
const COST = 0.0000354;

interface Limit {
  readonly id: string;
  readonly spent: string;
  readonly held: string;
  readonly remaining: string;
}

const folder = mkdtempSync(join(tmpdir(), 'cost-control-'));
let upstream: UpstreamDouble;
let platform: TestPlatform;

beforeAll(async () => {
  upstream = await startUpstreamDouble();
  const file = join(folder, 'models.json');
  const models = [{ key: 'm', provider: 'acme', kind: 'chat', pricing: { currency: 'USD', input: '1', output: '2' } }];
  writeFileSync(
    file,
    JSON.stringify({ defaultModel: 'm', providers: { acme: { kind: 'openai', baseUrl: upstream.baseUrl } }, models }),
  );
  platform = await startTestPlatform({
    listen: true,
    environment: { MODELS_FILE: file, DEFAULT_TIME_ZONE: 'Europe/Berlin' },
  });
}, 60_000);
afterAll(async () => {
  await platform.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  upstream.behaviour = behaves;
  upstream.calls.length = 0;
});

const client = (key = ADMIN_KEY) => new OpenAI({ baseURL: `${platform.url}/api/compat/v1`, apiKey: key });
const chat = (key?: string, maxTokens = 10) =>
  client(key).chat.completions.create({
    model: 'm',
    messages: [{ role: 'user', content: 'Hello?' }],
    max_completion_tokens: maxTokens,
  });
const set = async (body: object, key = ADMIN_KEY) => platform.call<Limit>(LIMITS, { method: 'POST', body, key });
const standing = async (id: string) => (await platform.call<Limit>(`${LIMITS}/${id}`)).body;
const settled = (id: string, calls: number) =>
  until(async () => Number((await standing(id)).spent).toFixed(9) === (calls * COST).toFixed(9), 'the settlement');

describe('cost control', () => {
  it('holds a user to a limit, says why, and by which calls', async () => {
    const { userId, key } = await platform.newCaller();
    const limit = await set({ scope: { type: 'user', id: userId }, amount: 0.00005, window: 'day' });
    expect(limit).toMatchObject({
      status: 201,
      body: {
        scope: { type: 'user', id: userId },
        amount: '0.00005',
        currency: 'USD',
        timeZone: 'Europe/Berlin',
        action: 'block',
        spent: '0',
        held: '0',
        remaining: '0.00005',
        overage: '0',
      },
    });
    await chat(key);
    await chat(key);
    await settled(limit.body.id, 2);
    const refused = await chat(key).catch((error: unknown) => error as RateLimitError);
    expect(refused).toBeInstanceOf(RateLimitError);
    expect(refused).toMatchObject({ status: 429, type: 'rate_limit_error', code: 'usage_limit_exceeded' });
    expect(upstream.calls).toHaveLength(2);
    await chat();
    const { body } = await platform.call(`${LIMITS}/${limit.body.id}/explain`, { key });
    expect(body).toMatchObject({
      limit: { id: limit.body.id, spent: '0.0000708', held: '0', remaining: '0', overage: '0.0000208' },
      holds: [],
      nextCursor: null,
    });
    expect(body['items']).toEqual(
      [1, 2].map(() =>
        expect.objectContaining({
          userId,
          model: 'm',
          outcome: 'ok',
          usageSource: 'upstream',
          usage: expect.objectContaining({ inputTokens: 19, cost: '0.0000354' }),
        }),
      ),
    );
  });

  it.each([false, true])(
    'lets calls follow each other that may cost more than what is left (stream: %s)',
    async (stream) => {
      const { keyId, key } = await platform.newCaller();
      await set({ scope: { type: 'apiKey', id: keyId }, amount: (10 * COST).toFixed(9), window: 'total' });
      const ask = async (): Promise<void> => {
        const asked = { model: 'm', messages: [{ role: 'user' as const, content: 'Hello?' }] };
        if (!stream) return void (await client(key).chat.completions.create(asked));
        for await (const _ of await client(key).chat.completions.create({ ...asked, stream: true })) continue;
      };
      for (let call = 0; call < 10; call += 1) await ask();
      await expect(ask()).rejects.toMatchObject({ code: 'usage_limit_exceeded' });
    },
  );

  it('lets at most eleven of fifty calls at once through where there is room for ten', async () => {
    const { keyId, key } = await platform.newCaller();
    // What is held, for 6 tokens of input as counted here and 14 of output, is a little less than a call costs.
    const limit = await set({ scope: { type: 'apiKey', id: keyId }, amount: (10 * COST).toFixed(9), window: 'total' });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, () =>
        new OpenAI({ baseURL: `${platform.url}/api/compat/v1`, apiKey: key, maxRetries: 2 }).chat.completions.create({
          model: 'm',
          messages: [{ role: 'user', content: 'Hello?' }],
          max_completion_tokens: 14,
        }),
      ),
    );
    const admitted = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect(admitted).toBeGreaterThanOrEqual(10);
    expect(admitted).toBeLessThanOrEqual(11);
    expect(upstream.calls).toHaveLength(admitted);
    await settled(limit.body.id, admitted);
    await until(
      async () =>
        (await platform.call<{ items: object[] }>(`${CORE}/usage/invocations?apiKeyId=${keyId}`)).body.items.length ===
        admitted,
    );
  });

  it('lets no more of fifty calls at once through where their text has more tokens than texts usually have', async () => {
    const { keyId, key } = await platform.newCaller();
    // Digits and base64 have more than one token for every two bytes.
    const usage = { prompt_tokens: 300, completion_tokens: 1, total_tokens: 301 };
    upstream.behaviour = (response) => json(response, 200, completion({ content: 'a' }, 'm', { usage }));
    await set({ scope: { type: 'apiKey', id: keyId }, amount: (10 * 0.000302).toFixed(9), window: 'total' });
    const ask = () =>
      platform.call('/api/compat/v1/chat/completions', {
        method: 'POST',
        key,
        body: { model: 'm', messages: [{ role: 'user', content: '31415926'.repeat(50) }], max_tokens: 1 },
      });
    const answers = await Promise.all(Array.from({ length: 50 }, ask));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(11);
    expect(Number((await standing(keyId)).spent)).toBeLessThanOrEqual(11 * 0.000302);
  });

  it('knows what was spent ever as soon as a limit is set, without reading each of many calls', async () => {
    const { userId } = await platform.newCaller();
    const calls = Array.from({ length: 1_000 }, (_, number) =>
      invocation(number, {
        userId,
        at: new Date(Date.UTC(2026, 0, 1) + number * 3_600_000).toISOString(),
        cost: '1000000',
      }),
    );
    await recordInvocations(platform.platform, calls);
    const find = jest.spyOn(platform.platform.app.get<ReadStore>(READ_STORE), 'find');
    expect(await set({ scope: { type: 'user', id: userId }, amount: '5', window: 'total' })).toMatchObject({
      status: 201,
      body: { spent: '1', held: '0' },
    });
    const views = find.mock.calls.map(([view]) => view);
    find.mockRestore();
    expect(views).toContain('usage-days');
    expect(views).not.toContain('invocations');
  });

  it('changes a limit only as it was read, whatever became of others meanwhile', async () => {
    const { keyId } = await platform.newCaller();
    const { body: one } = await set({ scope: { type: 'instance' }, amount: '50', window: 'month', action: 'warn' });
    const { body: ofKey } = await set({ scope: { type: 'apiKey', id: keyId }, amount: '5', window: 'day' });
    for (const { id } of [one, ofKey]) {
      const etag = (await platform.call(`${LIMITS}/${id}`)).headers['etag'] as string;
      const { body: other } = await set({ scope: { type: 'instance' }, amount: '60', window: 'month', action: 'warn' });
      const changed = await platform.call(`${LIMITS}/${id}`, {
        method: 'PUT',
        body: { amount: '51' },
        headers: { 'if-match': etag },
      });
      expect(changed).toMatchObject({ status: 200, body: { amount: '51' } });
      const now = changed.headers['etag'] as string;
      expect(now).not.toBe(etag);
      expect(
        await platform.call(`${LIMITS}/${id}`, {
          method: 'PUT',
          body: { amount: '52' },
          headers: { 'if-match': etag },
        }),
      ).toMatchObject({ status: 412 });
      expect(await platform.call(`${LIMITS}/${id}`, { method: 'DELETE', headers: { 'if-match': etag } })).toMatchObject(
        { status: 412 },
      );
      await platform.call(`${LIMITS}/${other.id}`, { method: 'DELETE' });
      // A change that changes nothing leaves the limit at its revision.
      const same = await platform.call(`${LIMITS}/${id}`, {
        method: 'PUT',
        body: { amount: '51' },
        headers: { 'if-match': now },
      });
      expect(same).toMatchObject({ status: 200, body: { amount: '51' } });
      expect(same.headers['etag']).toBe(now);
      expect(await platform.call(`${LIMITS}/${id}`, { method: 'DELETE', headers: { 'if-match': now } })).toMatchObject({
        status: 204,
      });
    }
  });

  it("is a key's usage limit, wherever it is set", async () => {
    const { keyId, key } = await platform.newCaller();
    await platform.call(`${CORE}/api-keys/${keyId}`, {
      method: 'PUT',
      body: { usageLimit: { amount: '0', window: 'month' } },
    });
    await expect(chat(key)).rejects.toMatchObject({ code: 'usage_limit_exceeded' });
    expect((await platform.call<{ items: Limit[] }>(LIMITS, { key })).body.items).toMatchObject([
      { id: keyId, scope: { type: 'apiKey', id: keyId }, window: 'month' },
    ]);
    expect(await set({ scope: { type: 'apiKey', id: keyId }, amount: 1, window: 'day' })).toMatchObject({
      status: 409,
    });
    expect(
      await platform.call(LIMITS, { method: 'PUT', body: { id: keyId, amount: '1', action: 'warn' } }),
    ).toMatchObject({ status: 200, body: { amount: '1', action: 'warn', window: 'month' } });
    await chat(key);
    expect(await platform.call(`${CORE}/api-keys/${keyId}`)).toMatchObject({
      body: { usageLimit: { amount: '1', window: 'month', action: 'warn' } },
    });
    const given = await platform.call(`${CORE}/api-keys/${keyId}`, {
      method: 'PUT',
      body: { usageLimit: { amount: 2, window: 'week', includedAmount: 0.5 } },
    });
    expect(given).toMatchObject({
      status: 200,
      body: { usageLimit: { amount: '2', window: 'week', includedAmount: '0.5' } },
    });
    expect(await platform.call(`${LIMITS}?id=${keyId}`, { method: 'DELETE' })).toMatchObject({ status: 204 });
    expect(await platform.call(`${CORE}/api-keys/${keyId}`)).toMatchObject({ body: { usageLimit: null } });
    expect((await platform.call<{ items: Limit[] }>(LIMITS, { key })).body.items).toEqual([]);
  });

  it('that is used up refuses what a caller asks of free models, not what documents and searches need', async () => {
    const { body: agent } = await platform.call<{ id: string }>(`${CORE}/agents`, {
      method: 'POST',
      body: {
        name: 'Guide',
        model: 'local-chat',
        knowledgeEnabled: true,
        spaceId: (await platform.call<{ id: string }>(`${CORE}/spaces`, { method: 'POST', body: { name: 'Free' } }))
          .body.id,
      },
    });
    const { body: made } = await platform.call<{ secret: string }>(`${CORE}/api-keys`, {
      method: 'POST',
      body: {
        name: 'spent',
        agentIds: [],
        allAgents: true,
        permissions: ['compat', 'llm', 'knowledge:read', 'knowledge:write'],
        usageLimit: { amount: '0', window: 'total' },
      },
    });
    const post = (path: string, body: object) =>
      platform.call<{ id: string; code?: string; error?: { code: string } }>(path, {
        method: 'POST',
        key: made.secret,
        body,
      });
    const used = { status: 429, body: { error: { type: 'rate_limit_error', code: 'usage_limit_exceeded' } } };
    expect(
      await post('/api/compat/v1/chat/completions', {
        model: 'local-chat',
        messages: [{ role: 'user', content: 'Hello?' }],
      }),
    ).toMatchObject(used);
    expect(await post('/api/compat/v1/rerank', { model: 'local-reranker', query: 'a', input: ['b'] })).toMatchObject(
      used,
    );
    expect(await post('/api/compat/v1/embeddings', { model: 'local-embedding', input: 'a' })).toMatchObject(used);
    expect(await post(`${CORE}/llm/${agent.id}/conversation`, { message: 'Hello?' })).toMatchObject({
      status: 429,
      body: { code: 'usage_limit_exceeded' },
    });
    const document = await post(`${CORE}/knowledge/${agent.id}/documents`, {
      name: 'a.md',
      content: 'The quokka sleeps.',
      mimeType: 'text/markdown',
    });
    await until(
      async () =>
        (await platform.call<{ status: string }>(`${CORE}/knowledge/${agent.id}/documents/${document.body.id}`)).body
          .status === 'Ready',
      'the end of ingestion',
    );
    expect((await post(`${CORE}/knowledge/${agent.id}/search`, { query: 'quokka' })).status).toBe(200);
  });

  it('is named in the path, the body or the query, and once', async () => {
    const { userId } = await platform.newCaller();
    const limits = await Promise.all(
      [1, 2, 3].map((amount) => set({ scope: { type: 'user', id: userId }, amount, window: 'day' })),
    );
    const [inPath = '', inBody = '', inQuery = ''] = limits.map(({ body }) => body.id);
    const call = (method: 'PUT' | 'DELETE', place: string, body?: object) =>
      platform.call(`${LIMITS}${place}`, { method, ...(body === undefined ? {} : { body }) });
    expect(await call('PUT', `/${inPath}`, { amount: '4' })).toMatchObject({ status: 200, body: { id: inPath } });
    expect(await call('PUT', '', { id: inBody, amount: '5' })).toMatchObject({ status: 200, body: { id: inBody } });
    expect(await call('PUT', `?id=${inQuery}`, { amount: '6' })).toMatchObject({ status: 200, body: { id: inQuery } });
    for (const method of ['PUT', 'DELETE'] as const) {
      expect(await call(method, `?id=${inQuery}`, { id: inBody })).toMatchObject({
        status: 400,
        body: { errors: [expect.objectContaining({ path: 'id', code: 'mismatch' })] },
      });
    }
    expect(await call('DELETE', '', {})).toMatchObject({
      status: 400,
      body: { errors: [expect.objectContaining({ path: 'id' })] },
    });
    for (const [place, body] of [[`/${inPath}`], ['', { id: inBody }], [`?id=${inQuery}`]] as const)
      expect(await call('DELETE', place, body)).toMatchObject({ status: 204 });
    for (const id of [inPath, inBody, inQuery])
      expect(await platform.call(`${LIMITS}/${id}`)).toMatchObject({ status: 404 });
  });

  it('tells included calls from others, and only warns where it should', async () => {
    const { userId, key } = await platform.newCaller();
    const limit = await set({
      scope: { type: 'user', id: userId },
      amount: '0.00001',
      window: 'week',
      action: 'warn',
      includedAmount: '0.00005',
    });
    for (const calls of [1, 2, 3]) {
      await chat(key);
      await settled(limit.body.id, calls);
    }
    const recorded = async () =>
      (await platform.call<{ items: { usage: { isIncludedUsage: boolean } }[] }>(`${CORE}/usage/invocations`, { key }))
        .body.items;
    await until(async () => (await recorded()).length === 3);
    const items = await recorded();
    expect(items.map(({ usage }) => usage.isIncludedUsage)).toEqual([false, true, true]);
    expect(await standing(limit.body.id)).toMatchObject({ spent: '0.0001062', remaining: '0', overage: '0.0000562' });
  });

  it('concerns calls for an Agent and its Space, too', async () => {
    const space = await platform.call<{ id: string }>(`${CORE}/spaces`, { method: 'POST', body: { name: 'Spending' } });
    const agent = await platform.call<{ id: string }>(`${CORE}/agents`, {
      method: 'POST',
      body: { spaceId: space.body.id, name: 'Guide' },
    });
    const limits = await Promise.all([
      set({ scope: { type: 'space', id: space.body.id }, amount: 1, window: 'total' }),
      set({ scope: { type: 'agent', id: agent.body.id }, amount: 0.00003, window: 'total' }),
    ]);
    const ask = () =>
      platform.call<{ message: { status: string; usage: unknown } }>(`${CORE}/llm/${agent.body.id}/conversation`, {
        method: 'POST',
        body: { message: 'Hello?' },
      });
    expect(await ask()).toMatchObject({ status: 200, body: { message: { status: 'complete' } } });
    for (const { body } of limits) await settled(body.id, 1);
    expect(await ask()).toMatchObject({
      status: 429,
      body: { code: 'usage_limit_exceeded', limitId: limits[1]?.body.id },
    });
    const invocations = async () =>
      (await platform.call<{ items: object[] }>(`${CORE}/usage/invocations?agentId=${agent.body.id}`)).body.items;
    await until(async () => (await invocations()).length === 2, 'the call and its search');
    const concerned = { agentId: agent.body.id, spaceId: space.body.id };
    expect(await invocations()).toMatchObject([
      { kind: 'embedding', ...concerned },
      { kind: 'chat', ...concerned },
    ]);
    for (const { body } of limits) await platform.call(`${LIMITS}/${body.id}`, { method: 'DELETE' });
    expect(await ask()).toMatchObject({ status: 200 });
  });

  it('has a history that auditors read', async () => {
    const { userId, keyId } = await platform.newCaller();
    const limit = await set({ scope: { type: 'user', id: userId }, amount: 1, window: 'day' });
    await platform.call(`${LIMITS}/${limit.body.id}`, { method: 'PUT', body: { amount: '2' } });
    await set({ scope: { type: 'apiKey', id: keyId }, amount: 3, window: 'month' });
    const auditor = await platform.newCaller({ role: 'auditor' });
    const history = async (id: string) =>
      (
        await platform.call<{ items: { type: string }[] }>(`/api/v1/audit/objects/limit/${id}/history`, {
          key: auditor.key,
        })
      ).body.items.map(({ type }) => type);
    expect((await history(limit.body.id)).toSorted()).toEqual(['SpendLimitSet', 'SpendLimitSet']);
    expect((await history(keyId)).toSorted()).toEqual(['ApiKeyChanged', 'ApiKeyCreated']);
    expect(await platform.call(`/api/v1/audit/objects/limit/${limit.body.id}`, { key: auditor.key })).toMatchObject({
      status: 200,
      text: expect.stringContaining('"amount":"2"'),
    });
  });

  it('is nothing to others', async () => {
    const [one, other] = [await platform.newCaller(), await platform.newCaller()];
    const limit = await set({ scope: { type: 'user', id: one.userId }, amount: 1, window: 'day' });
    expect(await platform.call(`${LIMITS}/${limit.body.id}`, { key: one.key })).toMatchObject({ status: 200 });
    for (const path of [`${LIMITS}/${limit.body.id}`, `${LIMITS}/${limit.body.id}/explain`, `${LIMITS}/${one.keyId}`])
      expect(await platform.call(path, { key: other.key })).toMatchObject({ status: 404 });
    expect(await set({ scope: { type: 'user', id: other.userId }, amount: 1, window: 'day' }, other.key)).toMatchObject(
      { status: 403 },
    );
    expect((await platform.call<{ items: object[] }>(LIMITS, { key: other.key })).body.items).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['a scope without id', { scope: { type: 'user' }, amount: 1, window: 'day' }, 'scope.id'],
    [
      'an instance with id',
      { scope: { type: 'instance', id: '01990000-0000-7000-8000-000000000001' }, amount: 1, window: 'day' },
      'scope.id',
    ],
    ['a negative amount', { scope: { type: 'instance' }, amount: -1, window: 'day' }, 'amount'],
    ['an amount that is too fine', { scope: { type: 'instance' }, amount: '0.0000000001', window: 'day' }, 'amount'],
    ['an unknown window', { scope: { type: 'instance' }, amount: 1, window: 'year' }, 'window'],
    [
      'an unknown time zone',
      { scope: { type: 'instance' }, amount: 1, window: 'day', timeZone: 'Europe/Atlantis' },
      'timeZone',
    ],
  ])('refuses %s', async (_, body, path) =>
    expect(await set(body)).toMatchObject({ status: 400, body: { errors: [expect.objectContaining({ path })] } }),
  );

  it('refuses a scope that is not there', async () => {
    for (const type of ['user', 'agent', 'space', 'apiKey'])
      expect(
        await set({ scope: { type, id: '01990000-0000-7000-8000-000000000001' }, amount: 1, window: 'day' }),
      ).toMatchObject({ status: 404 });
    expect(await platform.call(LIMITS, { method: 'PUT', body: { amount: 1 } })).toMatchObject({
      status: 400,
      body: { errors: [expect.objectContaining({ path: 'id' })] },
    });
    expect(await platform.call(LIMITS, { method: 'DELETE' })).toMatchObject({ status: 400 });
  });
});
