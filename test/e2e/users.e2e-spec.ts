import { until } from '../fixtures/until';
import { KEYS, newUser, platform, type User, USERS, withUsers } from './users-world';

withUsers();

describe('users', () => {
  it('are created, shown, changed and deleted, each answer showing the write', async () => {
    const created = await platform.call<User>(USERS, {
      method: 'POST',
      body: { email: 'Ada@example.com', name: ' Ada ', role: 'member', language: 'de' },
    });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      email: 'Ada@example.com',
      name: 'Ada',
      role: 'member',
      language: 'de',
      status: 'active',
      revision: 0,
    });
    expect(Object.keys(created.body).toSorted()).toEqual([
      'createdAt',
      'email',
      'id',
      'language',
      'name',
      'revision',
      'role',
      'status',
      'usageWindowStart',
    ]);
    const path = `${USERS}/${created.body.id}`;
    expect(created.headers['location']).toBe(path);
    expect((await platform.call(path)).body).toEqual(created.body);
    expect((await platform.call<User>(path, { method: 'PATCH', body: { name: 'Ada L.' } })).body).toMatchObject({
      name: 'Ada L.',
      revision: 1,
    });
    expect(
      (await platform.call(path, { method: 'PUT', body: { name: 'X' }, headers: { 'if-match': '"0"' } })).status,
    ).toBe(412);
    expect((await platform.call<{ items: User[] }>(USERS)).body.items[0]).toMatchObject({ name: 'Ada L.' });
    expect((await platform.call(path, { method: 'DELETE' })).status).toBe(204);
    for (const method of ['GET', 'PUT', 'DELETE'] as const)
      expect((await platform.call(path, { method, ...(method === 'PUT' ? { body: {} } : {}) })).status).toBe(404);
    expect(
      (
        await platform.call(USERS, {
          method: 'POST',
          body: { email: 'ADA@example.com', name: 'Ada II', role: 'member' },
        })
      ).status,
    ).toBe(201);
  });

  it('have times shown in one form, and none of years that it cannot tell', async () => {
    const path = `${USERS}/${(await newUser()).id}`;
    const begin = async (usageWindowStart: string) =>
      (
        await platform.call<{ usageWindowStart: string; code?: string; errors?: object[] }>(path, {
          method: 'PUT',
          body: { usageWindowStart },
        })
      ).body;
    expect((await begin('2026-01-05T00:00:00Z')).usageWindowStart).toBe('2026-01-05T00:00:00.000Z');
    expect((await begin('2026-01-05T00:00:00.1234+02:00')).usageWindowStart).toBe('2026-01-04T22:00:00.123Z');
    for (const outside of ['9999-12-31T23:59:59-01:00', '0000-01-01T00:00:00+01:00']) {
      expect(await begin(outside)).toMatchObject({ code: 'invalid_body', errors: [{ path: 'usageWindowStart' }] });
    }
    const key = await platform.call(KEYS, {
      method: 'POST',
      body: { name: 'K', agentIds: [], permissions: [], expiresAt: '9999-12-31T23:59:59-01:00' },
    });
    expect(key.body).toMatchObject({ status: 400, errors: [{ path: 'expiresAt' }] });
  });

  it('rejects what is wrong, naming the field', async () => {
    const post = (body: unknown) =>
      platform.call<{ code: string; errors: { path: string }[] }>(USERS, { method: 'POST', body });
    expect((await post({ email: 'no mail', name: 'A', role: 'member' })).body).toMatchObject({
      code: 'invalid_body',
      errors: [{ path: 'email' }],
    });
    expect((await post({ email: 'a@b.cd', name: '\u202eA', role: 'member' })).body).toMatchObject({
      code: 'invalid_body',
      errors: [{ path: 'name' }],
    });
    expect((await post({ email: 'a@b.cd', name: 'A', role: 'member', id: 'x', status: 'active' })).body).toMatchObject({
      code: 'unknown_field',
      errors: [{ path: 'id' }, { path: 'status' }],
    });
    expect((await post({ email: 'a@b.cd', name: 'A', role: 'owner' })).status).toBe(400);
  });

  it('takes a mail address once, also when many ask at the same time', async () => {
    const attempts = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        platform.call(USERS, {
          method: 'POST',
          body: { email: n % 2 === 0 ? 'race@example.com' : 'RACE@EXAMPLE.COM', name: 'R', role: 'member' },
        }),
      ),
    );
    expect(attempts.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
    expect(attempts.find(({ status }) => status === 409)?.body).toMatchObject({
      code: 'name_taken',
      errors: [{ path: 'email' }],
    });
  });

  it('keeps the mail address it got when the same change is rejected at the same time, and sets it free with the user', async () => {
    const post = (email: string) =>
      platform.call(USERS, { method: 'POST', body: { email, name: 'Other', role: 'member' } });
    for (let round = 0; round < 3; round += 1) {
      const { id } = await newUser();
      const change = (email: string, headers = {}) =>
        platform.call(`${USERS}/${id}`, { method: 'PUT', body: { email }, headers });
      const matched = () => change(`won${round}@example.org`, { 'if-match': '"0"' });
      expect((await Promise.all([matched(), matched()])).map(({ status }) => status).toSorted()).toEqual([200, 412]);
      expect(await post(`won${round}@example.org`)).toMatchObject({
        status: 409,
        body: { code: 'name_taken', errors: [{ path: 'email' }] },
      });

      const email = `twice${round}@example.org`;
      expect((await Promise.all([change(email), change(email)])).map(({ status }) => status)).toEqual([200, 200]);
      expect((await post(email)).status).toBe(409);
      await platform.call(`${USERS}/${id}`, { method: 'DELETE' });
      expect((await post(email)).status).toBe(201);
    }
  });

  it('keeps the last admin, and exactly one of two admins who demote each other', async () => {
    const [{ id: own }] = (await platform.call<{ items: User[] }>(USERS)).body.items.filter(
      ({ role }) => role === 'admin',
    ) as [User];
    expect((await platform.call(`${USERS}/${own}`, { method: 'PUT', body: { role: 'member' } })).body).toMatchObject({
      code: 'conflict',
    });
    expect((await platform.call(`${USERS}/${own}/suspend`, { method: 'POST' })).status).toBe(409);
    expect((await platform.call(`${USERS}/${own}`, { method: 'DELETE' })).status).toBe(409);

    const other = await platform.newCaller({ role: 'admin' });
    const [first, second] = await Promise.all([
      platform.call(`${USERS}/${own}`, { key: other.key, method: 'PUT', body: { role: 'member' } }),
      platform.call(`${USERS}/${other.userId}`, { method: 'PUT', body: { role: 'member' } }),
    ]);
    expect([first.status, second.status].toSorted()).toEqual([200, 409]);
    if (first.status === 200)
      await platform.call(`${USERS}/${own}`, { key: other.key, method: 'PUT', body: { role: 'admin' } });
    expect((await platform.call(USERS)).status).toBe(200);
  });

  it('let everyone read and change their own name and language, nothing else', async () => {
    const { key, userId } = await platform.newCaller({ role: 'auditor' });
    expect((await platform.call<User>(`${USERS}/me`, { key })).body).toMatchObject({ id: userId, role: 'auditor' });
    expect(
      (await platform.call<User>(`${USERS}/me`, { key, method: 'PATCH', body: { name: 'New', language: 'de' } })).body,
    ).toMatchObject({ name: 'New', language: 'de' });
    expect((await platform.call(`${USERS}/me`, { key, method: 'PUT', body: { role: 'admin' } })).body).toMatchObject({
      code: 'unknown_field',
    });
    expect((await platform.call(USERS, { key })).status).toBe(403);
    expect((await platform.call('/api/v1/core/agents', { key })).status).toBe(403);
  });

  it('have one personal Space and one chat Agent, which go with them', async () => {
    const { key, userId } = await platform.newCaller();
    const [home] = (await platform.call<{ items: { id: string; kind: string }[] }>('/api/v1/core/spaces', { key })).body
      .items as [{ id: string; kind: string }];
    expect(home.kind).toBe('personal');
    const { items } = (
      await platform.call<{ items: { id: string; isPersonal: boolean }[] }>('/api/v1/core/agents', { key })
    ).body;
    expect(items).toMatchObject([{ isPersonal: true }]);
    expect((await platform.call(`/api/v1/core/agents/${items[0]?.id}`)).status).toBe(404);
    expect((await platform.call(`/api/v1/core/agents/${items[0]?.id}`, { key, method: 'DELETE' })).status).toBe(409);
    expect((await platform.call(`/api/v1/core/spaces/${home.id}`, { key, method: 'DELETE' })).status).toBe(409);
    await platform.call(`${USERS}/${userId}`, { method: 'DELETE' });
    const { readStore } = platform.platform.host.stores;
    await until(
      async () =>
        (await readStore.get('spaces', home.id)) === undefined &&
        (await readStore.get('agents', items[0]?.id ?? '')) === undefined,
      'the end of the personal Space',
    );
  });
});
