import { systemClock } from '@app/kernel';
import { idNumbered, invocation, recordInvocations } from '../fixtures/invocations';
import type { Answer } from './harness';
import { AGENT, ask, MARCH, one, other, platform, withUsage } from './usage-world';

withUsage();

interface Item {
  readonly key: string | null;
  readonly calls: number;
  readonly cost: string;
}

interface Report {
  readonly from: string;
  readonly to: string;
  readonly totals: Item;
  readonly items: readonly Item[];
}

const groups = ({ body }: Answer<Report>) => body.items.map(({ key, calls, cost }) => [key, calls, cost]);
describe('the usage report', () => {
  it('sums by the days of the instance, over all for admins', async () => {
    const { status, body } = await ask(`?${MARCH}`);
    expect([status, body]).toEqual([
      200,
      {
        currency: 'USD',
        from: '2026-03-01T00:00:00.000Z',
        to: '2026-03-31T22:00:00.000Z',
        totals: {
          calls: 3,
          inputTokens: 300,
          cachedInputTokens: 120,
          outputTokens: 29,
          cost: '1.020000003',
          includedCost: '0.02',
        },
        items: [
          {
            key: '2026-03-28',
            calls: 1,
            inputTokens: 100,
            cachedInputTokens: 40,
            outputTokens: 10,
            cost: '1',
            includedCost: '0',
          },
          {
            key: '2026-03-29',
            calls: 2,
            inputTokens: 200,
            cachedInputTokens: 80,
            outputTokens: 19,
            cost: '0.020000003',
            includedCost: '0.02',
          },
        ],
      },
    ]);
  });

  it('sums by model, user and key, what a filter leaves', async () => {
    expect(groups(await ask(`?${MARCH}&groupBy=model`))).toEqual([
      ['m1', 2, '1.000000003'],
      ['=m2', 1, '0.02'],
    ]);
    expect(groups(await ask(`?${MARCH}&groupBy=user`))).toEqual([
      [one.userId, 2, '1.02'],
      [other.userId, 1, '0.000000003'],
    ]);
    expect(groups(await ask(`?${MARCH}&groupBy=apiKey`))).toEqual([
      [one.keyId, 2, '1.02'],
      [null, 1, '0.000000003'],
    ]);
    expect(groups(await ask(`?${MARCH}&groupBy=model&userId=${one.userId}&agentId=${AGENT}`))).toEqual([
      ['=m2', 1, '0.02'],
    ]);
    expect(groups(await ask(`?${MARCH}&apiKeyId=${one.keyId}&spaceId=${idNumbered(901)}`))).toEqual([]);
  });

  it("shows a user their own, and nobody else's whatever they ask for", async () => {
    expect(groups(await ask(`?${MARCH}&groupBy=user`, other.key))).toEqual([[other.userId, 1, '0.000000003']]);
    for (const foreign of [`userId=${one.userId}`, `apiKeyId=${one.keyId}`, `userId=${idNumbered(902)}`]) {
      const { status, body } = await ask<Report>(`?${MARCH}&${foreign}`, other.key);
      expect([status, body.items, body.totals.calls]).toEqual([200, [], 0]);
      expect((await ask<{ items: unknown[] }>(`/invocations?${MARCH}&${foreign}`, other.key)).body.items).toEqual([]);
      expect(
        (await ask(`/invocations?${MARCH}&${foreign}`, other.key, { accept: 'text/csv' })).text.split('\r\n'),
      ).toHaveLength(2);
    }
  });

  it('covers the present month of the time zone where nothing else is asked', async () => {
    const at = ['2026-12-31T22:59:59.999Z', '2026-12-31T23:00:00.000Z'];
    await recordInvocations(
      platform.platform,
      at.map((each, index) => invocation(4 + index, { userId: other.userId, at: each })),
    );
    const now = '2026-12-31T23:30:00.000Z';
    const clock = jest.spyOn(systemClock, 'now').mockReturnValue(new Date(now));
    const { body } = await ask<Report>('', other.key);
    clock.mockRestore();
    expect([body.totals.calls, body.from, body.to]).toEqual([1, at[1], now]);
    expect((await ask<Report>('?to=2026-03-01T00:00:00%2B01:00')).body.from).toBe('2026-01-31T23:00:00.000Z');
  });

  it.each([
    ['from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z', 'from'],
    ['from=yesterday', 'from'],
    ['groupBy=hour', 'groupBy'],
    ['userId=1', 'userId'],
  ])('names the parameter that is wrong: %s', async (given, path) => {
    expect((await ask(`?${given}`)).body).toMatchObject({ status: 400, code: 'invalid_parameter', errors: [{ path }] });
  });

  it('takes the permission, and the grant of an Agent that is asked for', async () => {
    const without = await platform.newCaller({ permissions: ['llm'] });
    const narrow = await platform.newCaller({ permissions: ['usage:read'], allAgents: false });
    expect([(await ask('', without.key)).status, (await ask('', narrow.key)).status]).toEqual([403, 200]);
    for (const path of ['', '/invocations'])
      expect((await ask(`${path}?agentId=${AGENT}`, narrow.key)).body).toMatchObject({
        status: 403,
        code: 'agent_not_granted',
      });
  });
});

describe('the usage of an Agent', () => {
  it("sums its calls, with the window of the caller's own limit", async () => {
    const agent = (
      await platform.call<{ id: string }>('/api/v1/core/agents', {
        method: 'POST',
        key: one.key,
        body: { name: 'Helper' },
      })
    ).body.id;
    await recordInvocations(platform.platform, [
      invocation(20, { userId: one.userId, agentId: agent, at: '2026-02-10T12:00:00.000Z', cost: '7' }),
      invocation(21, { userId: other.userId, agentId: agent, at: '2026-02-10T12:00:00.000Z', cost: '9' }),
    ]);
    const path = `/api/v1/core/llm/${agent}/usage`;
    const { status, body } = await platform.call<Report & { window: object }>(
      `${path}?from=2026-02-10T00:00:00Z&to=2026-02-11T00:00:00Z&groupBy=user`,
      { key: one.key },
    );
    expect([status, body.totals.cost, body.items.map(({ key }) => key)]).toEqual([200, '0.000000007', [one.userId]]);
    expect(body.window).toEqual({ start: null, resetsAt: null, limit: null, used: null, overage: null });
    const csv = await platform.call(`${path}?from=2026-02-10T00:00:00Z&to=2026-02-11T00:00:00Z`, {
      key: one.key,
      headers: { accept: 'text/csv' },
    });
    expect(csv.text.split('\r\n')[1]).toBe('2026-02-10,1,100,40,10,0.000000007,0,USD');
    const limit = await platform.call('/api/v1/core/cost-control', {
      method: 'POST',
      body: { scope: { type: 'user', id: one.userId }, amount: '5', window: 'day' },
    });
    expect(limit.status).toBe(201);
    expect((await platform.call<{ window: object }>(path, { key: one.key })).body.window).toMatchObject({
      start: expect.any(String) as unknown,
      resetsAt: expect.any(String) as unknown,
      limit: '5',
      used: '0',
      overage: '0',
    });
    expect((await platform.call(path, { key: other.key })).status).toBe(404);
  });
});
