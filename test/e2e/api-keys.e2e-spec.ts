import { until } from '../fixtures/until';
import { KEYS, newUser, platform, USERS, withUsers } from './users-world';

withUsers();

describe('API keys', () => {
  it('show their secret once and work until revoked, suspended or deleted', async () => {
    const { key, keyId, userId } = await platform.newCaller();
    expect(key).toMatch(/^ap_[\w-]{64}$/);
    const shown = (await platform.call<Record<string, unknown>>(`${KEYS}/${keyId}`, { key })).body;
    expect(Object.keys(shown).toSorted()).toEqual([
      'agentIds',
      'allAgents',
      'createdAt',
      'expiresAt',
      'id',
      'lastUsedAt',
      'name',
      'permissions',
      'prefix',
      'revision',
      'revokedAt',
      'usageLimit',
      'userId',
    ]);
    expect(key.startsWith(String(shown['prefix']))).toBe(true);
    const me = () => platform.call(`${USERS}/me`, { key }).then(({ status }) => status);
    await platform.call(`${USERS}/${userId}/suspend`, { method: 'POST' });
    expect(await me()).toBe(401);
    await platform.call(`${USERS}/${userId}/reactivate`, { method: 'POST' });
    expect(await me()).toBe(200);
    expect((await platform.call(`${KEYS}/${keyId}`, { method: 'DELETE' })).status).toBe(204);
    expect(await me()).toBe(401);
  });

  it('give away neither to strangers nor more than their maker has', async () => {
    const narrow = await platform.newCaller({ permissions: ['keys:write', 'agents:read'], allAgents: false });
    const post = (body: object, key = narrow.key) =>
      platform
        .call(KEYS, { key, method: 'POST', body: { name: 'k', agentIds: [], permissions: [], ...body } })
        .then(({ status }) => status);
    expect(await post({ permissions: ['agents:read'] })).toBe(201);
    expect(await post({ permissions: ['agents:write'] })).toBe(403);
    expect(await post({ allAgents: true })).toBe(403);
    expect(await post({ agentIds: ['01900000-0000-7000-8000-000000000001'] })).toBe(403);
    expect(await post({ userId: (await newUser()).id })).toBe(403);
    expect(await post({ permissions: ['users:write'], userId: narrow.userId }, undefined)).toBe(403);
    expect(
      (
        await platform.call(`${KEYS}/${narrow.keyId}`, {
          key: narrow.key,
          method: 'PUT',
          body: { permissions: ['llm'] },
        })
      ).status,
    ).toBe(403);
    const stranger = await platform.newCaller();
    for (const method of ['GET', 'DELETE', 'PUT'] as const)
      expect(
        (
          await platform.call(`${KEYS}/${narrow.keyId}`, {
            key: stranger.key,
            method,
            ...(method === 'PUT' ? { body: {} } : {}),
          })
        ).status,
      ).toBe(404);
    expect((await platform.call(`${KEYS}?userId=${narrow.userId}`, { key: stranger.key })).status).toBe(403);
  });

  it('end when they expire, and lose what their user loses', async () => {
    const { key, keyId, userId } = await platform.newCaller({ role: 'admin' });
    expect((await platform.call(USERS, { key })).status).toBe(200);
    await platform.call(`${USERS}/${userId}`, { method: 'PUT', body: { role: 'member' } });
    expect((await platform.call(USERS, { key })).status).toBe(403);
    expect(
      (
        await platform.call<{ expiresAt: string }>(`${KEYS}/${keyId}`, {
          method: 'PUT',
          body: { expiresAt: '2020-01-01T00:00:00Z' },
        })
      ).body.expiresAt,
    ).toBe('2020-01-01T00:00:00.000Z');
    expect((await platform.call(`${USERS}/me`, { key })).status).toBe(401);
  });

  it('shows a secret to no repeat, and lists keys by user', async () => {
    const { userId } = await platform.newCaller();
    const request = {
      method: 'POST',
      headers: { 'idempotency-key': 'once' },
      body: { name: 'k', agentIds: [], permissions: ['llm'], userId },
    } as const;
    const [first, repeat] = [
      await platform.call<{ id: string; secret?: string }>(KEYS, request),
      await platform.call<{ id: string; secret?: string }>(KEYS, request),
    ];
    expect([first.status, repeat.status]).toEqual([201, 201]);
    expect([typeof first.body.secret, repeat.body.secret, repeat.body.id === first.body.id]).toEqual([
      'string',
      undefined,
      true,
    ]);
    expect((await platform.call<{ items: unknown[] }>(`${KEYS}?userId=${userId}`)).body.items).toHaveLength(2);
  });

  it('do not lengthen what may do more than they', async () => {
    const { key: wide, userId } = await platform.newCaller({ role: 'admin' });
    const narrow = await platform.call<{ secret: string }>(KEYS, {
      method: 'POST',
      key: wide,
      body: { name: 'narrow', agentIds: [], allAgents: true, permissions: ['keys:write'] },
    });
    const limit = { amount: '5', window: 'day' };
    const { body: current } = await platform.call<{ id: string }>(KEYS, {
      method: 'POST',
      key: wide,
      body: {
        name: 'wide',
        agentIds: [],
        allAgents: true,
        permissions: ['keys:write', 'llm'],
        userId,
        expiresAt: '2098-01-01T00:00:00Z',
        usageLimit: limit,
      },
    });
    const change = (body: object, key: string) =>
      platform.call<{ code: string }>(`${KEYS}/${current.id}`, { method: 'PUT', key, body });
    for (const more of [
      { expiresAt: '2099-01-01T00:00:00Z' },
      { expiresAt: null },
      { usageLimit: { ...limit, amount: '6' } },
      { usageLimit: null },
    ]) {
      expect(await change(more, narrow.body.secret)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    expect(
      (await change({ expiresAt: '2097-01-01T00:00:00Z', usageLimit: { ...limit, amount: '4' } }, narrow.body.secret))
        .status,
    ).toBe(200);
    expect((await change({ expiresAt: '2099-01-01T00:00:00Z', usageLimit: null }, wide)).status).toBe(200);
  });

  it('give nothing to what may do more than they, or elsewhere', async () => {
    const { key } = await platform.newCaller();
    const agent = await platform.call<{ id: string }>('/api/v1/core/agents', {
      method: 'POST',
      key,
      body: { name: 'One' },
    });
    const make = async (body: object) =>
      (
        await platform.call<{ id: string; secret: string }>(KEYS, {
          method: 'POST',
          key,
          body: { name: 'k', permissions: ['keys:write'], ...body },
        })
      ).body;
    const ofOne = { agentIds: [agent.body.id] };
    const reader = await make({ allAgents: true, permissions: ['agents:read'] });
    const talker = await make({ permissions: ['llm'] });
    for (const [giver, held, body, path] of [
      [
        await make({ ...ofOne, permissions: ['keys:write', 'agents:write'] }),
        reader,
        { permissions: ['agents:read', 'agents:write'] },
        'permissions',
      ],
      [await make({ allAgents: true }), talker, { allAgents: true }, 'allAgents'],
      [await make(ofOne), talker, ofOne, 'agentIds'],
    ] as const) {
      const change = () => platform.call(`${KEYS}/${held.id}`, { method: 'PUT', key: giver.secret, body });
      expect(await change()).toMatchObject({ status: 403, body: { code: 'forbidden', errors: [{ path }] } });
    }
    const take = { method: 'PUT', key: (await make(ofOne)).secret, body: { permissions: [] } } as const;
    expect((await platform.call(`${KEYS}/${talker.id}`, take)).status).toBe(200);
  });

  it('have one limit, however many set it at once, and lose no change of it', async () => {
    const { keyId } = await platform.newCaller();
    const LIMITS = '/api/v1/core/cost-control';
    const scope = { type: 'apiKey', id: keyId };
    const set = (amount: string) =>
      platform.call<{ code?: string }>(LIMITS, { method: 'POST', body: { scope, amount, window: 'day' } });
    const answers = await Promise.all(['1', '2', '3'].map(set));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    const changes = [{ amount: '7' }, { window: 'week' }, { action: 'warn' }];
    await Promise.all(changes.map((body) => platform.call(`${LIMITS}/${keyId}`, { method: 'PUT', body })));
    expect((await platform.call(`${LIMITS}/${keyId}`)).body).toMatchObject({
      amount: '7',
      window: 'week',
      action: 'warn',
    });
  });

  it('have a limit that is unknown to strangers, as one that never was', async () => {
    const [{ keyId }, stranger] = [await platform.newCaller(), await platform.newCaller()];
    const unlimited = (await platform.newCaller()).keyId;
    const usageLimit = { amount: '5', window: 'day' };
    await platform.call(`${KEYS}/${keyId}`, { method: 'PUT', body: { usageLimit } });
    const detail = async (id: string) => {
      const path = `/api/v1/core/cost-control/${id}`;
      const { status, body } = await platform.call<{ detail: string }>(path, { key: stranger.key });
      return [status, body.detail.replace(id, 'ID')];
    };
    expect(await detail(keyId)).toEqual(await detail(unlimited));
  });

  it('notes that they were used', async () => {
    const { key, keyId } = await platform.newCaller();
    await platform.call(`${USERS}/me`, { key });
    await until(
      async () => (await platform.call<{ lastUsedAt: string | null }>(`${KEYS}/${keyId}`)).body.lastUsedAt !== null,
      'the use',
    );
  });
});
