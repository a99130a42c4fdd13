import { EVER } from '../fixtures/ever';
import { until } from '../fixtures/until';
import { chat, CORE, type Limit, LIMITS, platform, set, settled, state, withLimits } from './cost-control-world';

withLimits();

describe('scopes of cost control', () => {
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

  it('that is used up rejects what a caller asks of free models, not what documents and searches need', async () => {
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
      window: 'total',
      action: 'warn',
      includedAmount: '0.00005',
    });
    for (const calls of [1, 2, 3]) {
      await chat(key);
      await settled(limit.body.id, calls);
    }
    const recorded = async () =>
      (
        await platform.call<{ items: { usage: { isIncludedUsage: boolean } }[] }>(`${CORE}/usage/invocations?${EVER}`, {
          key,
        })
      ).body.items;
    await until(async () => (await recorded()).length === 3);
    const items = await recorded();
    expect(items.map(({ usage }) => usage.isIncludedUsage)).toEqual([false, true, true]);
    expect(await state(limit.body.id)).toMatchObject({ spent: '0.0001062', remaining: '0', overage: '0.0000562' });
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
      (await platform.call<{ items: object[] }>(`${CORE}/usage/invocations?${EVER}&agentId=${agent.body.id}`)).body
        .items;
    await until(async () => (await invocations()).length === 2, 'the call and its search');
    const concerned = { agentId: agent.body.id, spaceId: space.body.id };
    expect(await invocations()).toMatchObject([
      { kind: 'embedding', ...concerned },
      { kind: 'chat', ...concerned },
    ]);
    for (const { body } of limits) await platform.call(`${LIMITS}/${body.id}`, { method: 'DELETE' });
    expect(await ask()).toMatchObject({ status: 200 });
  });

  it('rejects a scope that is not there', async () => {
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
