import { systemClock } from '@app/kernel';
import { filesWhere } from '../fixtures/files-under';
import { startTestPlatform } from './harness';
import { byCookie, COOKIE_FORM, ME, platform, post, SESSION, signIn, withSessions, world } from './session-world';

withSessions();

describe('a session', () => {
  it('is started with an API key, read, and ended', async () => {
    const { key, userId } = await platform.newCaller();
    const before = Date.now();
    const started = await post(key);
    expect(started).toMatchObject({ status: 201, body: { userId }, headers: { location: SESSION } });
    expect(started.headers['x-log-position']).toBeDefined();
    const lasts = Date.parse(started.body.expiresAt) - before;
    expect(lasts).toBeGreaterThanOrEqual(12 * 3_600_000);
    expect(lasts).toBeLessThan(12 * 3_600_000 + 10_000);
    const [, secret, expires] = COOKIE_FORM.exec(String(started.headers['set-cookie'])) ?? [];
    expect(Math.abs(Date.parse(String(expires)) - Date.parse(started.body.expiresAt))).toBeLessThan(1_000);
    const cookie = `other=1; ap_session=${secret}`;
    expect(await byCookie(SESSION, cookie)).toMatchObject({ status: 200, body: started.body });
    expect(await byCookie(ME, cookie)).toMatchObject({ status: 200, body: { id: userId } });
    const ended = await byCookie(SESSION, cookie, { method: 'DELETE' });
    expect(ended).toMatchObject({ status: 204 });
    expect(ended.headers['set-cookie']).toMatch(/^ap_session=; .*Expires=Thu, 01 Jan 1970 00:00:00 GMT/);
    for (const method of ['GET', 'DELETE'] as const)
      expect(await byCookie(SESSION, cookie, { method })).toMatchObject({
        status: 401,
        body: { code: 'unauthenticated', detail: expect.stringContaining('Sign in again') },
      });
    expect((await platform.call(ME, { key })).status).toBe(200);
  });

  it.each([
    ['a wrong one', 'ap_wrong', 401, 'unauthenticated'],
    ['what is no text', 7, 400, 'invalid_body'],
    ['an empty one', '', 400, 'invalid_body'],
    ['an endless one', 'a'.repeat(513), 400, 'invalid_body'],
  ])('is not started with %s', async (_, apiKey, status, code) => {
    const answer = await post(apiKey);
    expect(answer).toMatchObject({ status, body: { code } });
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  it('is not started with more than a key, nor spoken of to those who come with one', async () => {
    const more = { apiKey: 'ap_wrong', userId: world.ids['userId'] };
    expect(await platform.call(SESSION, { method: 'POST', key: null, body: more })).toMatchObject({
      status: 400,
      body: { code: 'unknown_field' },
    });
    expect(await platform.call(SESSION)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await platform.call(SESSION, { method: 'DELETE' })).toMatchObject({ status: 404 });
    expect((await platform.call(SESSION, { key: null })).status).toBe(401);
  });

  it('has the rights of its key as they are now, and its limits', async () => {
    const { key, keyId, userId } = await platform.newCaller({ role: 'admin', permissions: ['users:write', 'llm'] });
    const cookie = await signIn(key);
    const statusOf = async (path: string) => (await byCookie(path, cookie)).status;
    expect([await statusOf('/api/v1/core/users'), await statusOf('/api/v1/core/agents')]).toEqual([200, 403]);
    await platform.call(`/api/v1/core/api-keys/${keyId}`, { method: 'PUT', body: { permissions: ['agents:read'] } });
    expect([await statusOf('/api/v1/core/users'), await statusOf('/api/v1/core/agents')]).toEqual([403, 200]);
    const made = await byCookie<{ id: string }>('/api/v1/core/users/me', cookie, {
      method: 'PUT',
      body: { name: 'N' },
    });
    expect(made.status).toBe(200);
    const { items } = (
      await platform.call<{ items: { type: string; meta: object }[] }>(
        `/api/v1/audit/events?stream=user-${userId}&order=desc&limit=1`,
      )
    ).body;
    expect(items[0]).toMatchObject({
      type: 'UserChanged',
      meta: { actor: `key:${keyId}`, onBehalfOf: `user:${userId}` },
    });
  });

  it('ends with its key and with its user', async () => {
    const { key, keyId, userId } = await platform.newCaller();
    const [first, second] = [await signIn(key), await signIn(key)];
    expect(first).not.toBe(second);
    await platform.call(`/api/v1/core/users/${userId}/suspend`, { method: 'POST' });
    expect((await byCookie(ME, first)).status).toBe(401);
    await platform.call(`/api/v1/core/users/${userId}/reactivate`, { method: 'POST' });
    expect((await byCookie(ME, first)).status).toBe(200);
    await platform.call(`/api/v1/core/api-keys/${keyId}`, { method: 'DELETE' });
    expect([(await byCookie(ME, first)).status, (await byCookie(ME, second)).status]).toEqual([401, 401]);
    expect(await post(key)).toMatchObject({ status: 401 });
  });

  it('lasts no longer than its key', async () => {
    const { userId } = await platform.newCaller();
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { secret } = (
      await platform.call<{ secret: string }>('/api/v1/core/api-keys', {
        method: 'POST',
        body: { name: 'short', agentIds: [], permissions: ['llm'], userId, expiresAt },
      })
    ).body;
    const started = await post(secret);
    expect(started.body.expiresAt).toBe(expiresAt);
    const cookie = String(started.headers['set-cookie']).split(';')[0] as string;
    const statusAt = async (milliseconds: number): Promise<number> => {
      const clock = jest.spyOn(systemClock, 'now').mockImplementation(() => new Date(milliseconds));
      try {
        return (await byCookie(ME, cookie)).status;
      } finally {
        clock.mockRestore();
      }
    };
    const end = Date.parse(expiresAt);
    expect([await statusAt(end - 1), await statusAt(end)]).toEqual([200, 401]);
  });

  it('is kept nowhere but in the cookie', async () => {
    const { key } = await platform.newCaller();
    const secret = (await signIn(key)).slice('ap_session='.length);
    const found = filesWhere(platform.dataDir, (bytes) =>
      [secret, secret.slice(3), key].some((text) => bytes.includes(text)),
    );
    expect(found).toEqual([]);
  });

  it('gives a turn the channel web', async () => {
    const cookie = await signIn((await platform.newCaller({ role: 'admin' })).key);
    const ask = (given: { cookie?: string }) =>
      platform.call<{ conversationId: string }>(`/api/v1/core/llm/${agentId}/conversation`, {
        method: 'POST',
        ...(given.cookie === undefined ? {} : { key: null, headers: { cookie: given.cookie } }),
        body: { message: 'Hello?' },
      });
    const { userId } = (await byCookie<{ userId: string }>(SESSION, cookie)).body;
    const agentId = world.ids['agentId'] as string;
    await platform.call(`/api/v1/core/spaces/${world.ids['spaceId']}/members/${userId}`, {
      method: 'PUT',
      body: { role: 'viewer' },
    });
    for (const [given, channel] of [
      [{ cookie }, 'web'],
      [{}, 'api'],
    ] as const) {
      const { conversationId } = (await ask(given)).body;
      const events = await platform.call<{ items: { data: object }[] }>(
        `/api/v1/audit/events?stream=conversation-${conversationId}&type=UserMessageAdded`,
      );
      expect(events.body.items[0]?.data).toMatchObject({ channel });
    }
  });
});

describe('where the edge is reached by TLS', () => {
  it('the cookie says Secure, and the scheme of the origin counts', async () => {
    const tls = await startTestPlatform({
      environment: { BASE_URL: 'https://agents.example', RATE_LIMIT_PER_MINUTE: '5' },
    });
    try {
      const { key } = await tls.newCaller();
      const start = (headers: Record<string, string>) =>
        tls.call(SESSION, {
          method: 'POST',
          key: null,
          headers: { host: 'agents.example', ...headers },
          body: { apiKey: key },
        });
      const started = await start({ origin: 'https://agents.example' });
      expect(started.status).toBe(201);
      expect(started.headers['set-cookie']).toMatch(/; Secure$/);
      expect((await start({ origin: 'http://agents.example' })).status).toBe(403);
      // Behind a proxy that asks for us by another name.
      expect((await start({ origin: 'https://agents.example', host: 'inside:3000' })).status).toBe(201);
    } finally {
      await tls.stop();
    }
  });

  it('guesses are limited, before anybody is known', async () => {
    const limited = await startTestPlatform({ environment: { RATE_LIMIT_PER_MINUTE: '5' } });
    try {
      const guess = () =>
        limited.call(SESSION, { method: 'POST', key: null, body: { apiKey: 'ap_wrong' } }).then(({ status }) => status);
      const answers: number[] = [];
      // The minute may turn in between, once.
      for (let guesses = 0; guesses < 12; guesses += 1) answers.push(await guess());
      expect(answers.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
      expect(answers).toContain(429);
    } finally {
      await limited.stop();
    }
  });
});
