import { startTestPlatform } from './harness';

const CORE = '/api/v1/core';

it('a spend limit stays in its currency when the platform is given another, and rejects calls until it is set anew', async () => {
  const before = await startTestPlatform();
  const caller = await before.newCaller({ permissions: ['compat'], allAgents: true });
  const terms = { amount: '5', window: 'month', action: 'block' };
  const set = (platform: typeof before, body: object) =>
    platform.call<{ id: string }>(`${CORE}/cost-control`, { method: 'POST', body });
  const { id } = (await set(before, { scope: { type: 'user', id: caller.userId }, ...terms })).body;
  await before.stop({ keep: true });

  const now = await startTestPlatform({ dataDir: before.dataDir, environment: { DEFAULT_CURRENCY: 'EUR' } });
  try {
    const path = `${CORE}/cost-control/${id}`;
    const chat = () =>
      now.call<{ error: { code: string; message: string } }>('/api/compat/v1/chat/completions', {
        method: 'POST',
        body: { model: 'local-chat', messages: [{ role: 'user', content: 'Hi' }] },
        key: caller.key,
      });
    expect((await now.call(path)).body).toMatchObject({ currency: 'USD', amount: '5', spent: '0' });
    const { status, body } = await chat();
    expect([status, body.error.code]).toEqual([429, 'usage_limit_exceeded']);
    expect(body.error.message).toContain('is in USD, and calls cost another currency now');
    const put = (change: object) => now.call<{ detail: string }>(path, { method: 'PUT', body: change });
    expect(await put({ amount: '6' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('Set a new one') as string },
    });
    expect((await put({ timeZone: 'Europe/Berlin' })).status).toBe(200);

    const made = await set(now, { scope: { type: 'user', id: caller.userId }, ...terms });
    expect(made.body).toMatchObject({ currency: 'EUR', amount: '5' });
    expect((await now.call(path, { method: 'DELETE' })).status).toBe(204);
    expect((await chat()).status).toBe(200);
  } finally {
    await now.stop();
  }
});
