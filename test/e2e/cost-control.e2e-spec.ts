import { READ_STORE, type ReadStore } from '@app/read-store';
import OpenAI, { RateLimitError } from 'openai';
import { EVER } from '../fixtures/ever';
import { invocation, recordInvocations } from '../fixtures/invocations';
import { until } from '../fixtures/until';
import { completion, json } from '../fixtures/upstream-double';
import {
  chat,
  client,
  CORE,
  COST,
  LIMITS,
  platform,
  set,
  settled,
  state,
  upstream,
  withLimits,
} from './cost-control-world';

withLimits();

describe('cost control', () => {
  it('holds a user to a limit, says why, and by which calls', async () => {
    const { userId, key } = await platform.newCaller();
    const limit = await set({ scope: { type: 'user', id: userId }, amount: 0.00005, window: 'total' });
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
    const rejected = await chat(key).catch((error: unknown) => error as RateLimitError);
    expect(rejected).toBeInstanceOf(RateLimitError);
    expect(rejected).toMatchObject({ status: 429, type: 'rate_limit_error', code: 'usage_limit_exceeded' });
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
        (await platform.call<{ items: object[] }>(`${CORE}/usage/invocations?${EVER}&apiKeyId=${keyId}`)).body.items
          .length === admitted,
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
    expect(Number((await state(keyId)).spent)).toBeLessThanOrEqual(11 * 0.000302);
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
  ])('rejects %s', async (_, body, path) =>
    expect(await set(body)).toMatchObject({ status: 400, body: { errors: [expect.objectContaining({ path })] } }),
  );
});
