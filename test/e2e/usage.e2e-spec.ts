import { idNumbered, invocation, recordInvocations } from '../fixtures/invocations';
import { type Answer, startTestPlatform, type TestPlatform } from './harness';

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
interface Invocation {
  readonly id: string;
  readonly agentId?: string;
  readonly usage: object;
}

const AGENT = idNumbered(900);
let platform: TestPlatform;
let one: { userId: string; keyId: string; key: string };
let other: { userId: string; keyId: string; key: string };

beforeAll(async () => {
  platform = await startTestPlatform({ environment: { DEFAULT_TIME_ZONE: 'Europe/Berlin' } });
  one = await platform.newCaller();
  other = await platform.newCaller();
  const of = ({ userId, keyId: apiKeyId }: typeof one) => ({ userId, apiKeyId });
  await recordInvocations(platform.platform, [
    invocation(1, { ...of(one), at: '2026-03-28T22:59:59.999Z', cost: '1000000000' }),
    invocation(2, {
      ...of(one),
      at: '2026-03-28T23:00:00.000Z',
      cost: '20000000',
      model: '=m2',
      agentId: AGENT,
      spaceId: AGENT,
      isIncludedUsage: true,
    }),
    invocation(3, {
      ...of(other),
      at: '2026-03-29T12:00:00.000Z',
      cost: '3',
      apiKeyId: null,
      inputTokens: 100,
      cacheReadTokens: 40,
      cacheWriteTokens: 10,
      outputTokens: 9,
      reasoningTokens: 4,
    }),
  ]);
}, 60_000);
afterAll(() => platform.stop());

const MARCH = 'from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00%2B02:00';
const ask = <T>(path: string, key?: string, headers = {}): Promise<Answer<T>> =>
  platform.call<T>(`/api/v1/core/usage${path}`, { headers, ...(key === undefined ? {} : { key }) });
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
    await recordInvocations(platform.platform, [invocation(4, { userId: other.userId, at: new Date().toISOString() })]);
    const { body } = await ask<Report>('', other.key);
    expect(body.totals.calls).toBe(1);
    const local = new Intl.DateTimeFormat('en-GB', {
      timeZone: 'Europe/Berlin',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    }).format(new Date(body.from));
    expect(local).toBe('1, 00:00');
    expect(Date.parse(body.to)).toBeLessThanOrEqual(Date.now());
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

describe('the list of model calls', () => {
  it('shows each with its usage, newest first, a page at a time', async () => {
    const first = await ask<{ items: Invocation[]; nextCursor: string }>(`/invocations?${MARCH}&limit=2`);
    expect(first.body.items.map(({ id }) => id)).toEqual([idNumbered(3), idNumbered(2)]);
    expect(first.body.items[0]).toEqual({
      id: idNumbered(3),
      at: '2026-03-29T12:00:00.000Z',
      kind: 'chat',
      userId: other.userId,
      apiKeyId: null,
      model: 'm1',
      priceVersion: 'p1',
      usage: {
        inputTokens: 100,
        inputTokenDetails: { noCacheTokens: 50, cacheReadTokens: 40, cacheWriteTokens: 10 },
        outputTokens: 9,
        outputTokenDetails: { textTokens: 5, reasoningTokens: 4 },
        totalTokens: 109,
        cost: '0.000000003',
        currency: 'USD',
        isIncludedUsage: false,
      },
      usageSource: 'upstream',
      latencyMs: 5,
      outcome: 'ok',
    });
    expect(first.body.items[1]?.agentId).toBe(AGENT);
    const second = await ask<{ items: Invocation[]; nextCursor: null }>(
      `/invocations?${MARCH}&limit=2&cursor=${first.body.nextCursor}`,
    );
    expect([second.body.items.map(({ id }) => id), second.body.nextCursor]).toEqual([[idNumbered(1)], null]);
  });

  it('is filtered by what no index serves together, page by page', async () => {
    const user = idNumbered(903);
    await recordInvocations(
      platform.platform,
      Array.from({ length: 40 }, (_, index) =>
        invocation(1_000 + index, {
          userId: user,
          at: `2026-05-01T00:00:${String(index).padStart(2, '0')}.000Z`,
          agentId: idNumbered(904),
          spaceId: index % 8 === 0 ? idNumbered(905) : null,
        }),
      ),
    );
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: Answer<{ items: Invocation[]; nextCursor: string | null }> = await ask(
        `/invocations?from=2026-05-01T00:00:00Z&agentId=${idNumbered(904)}&userId=${user}&spaceId=${idNumbered(905)}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      seen.push(...body.items.map(({ id }) => id));
      cursor = body.nextCursor;
    }
    expect(seen).toEqual([32, 24, 16, 8, 0].map((index) => idNumbered(1_000 + index)));
  });
});

describe('usage as CSV', () => {
  it('is the report, without formulas', async () => {
    const { headers, text } = await ask(`?${MARCH}&groupBy=model`, undefined, { accept: 'text/csv' });
    expect([headers['content-type'], headers['content-disposition']]).toEqual([
      'text/csv; charset=utf-8; header=present',
      'attachment; filename="usage.csv"',
    ]);
    expect(text).toBe(
      "model,calls,inputTokens,cachedInputTokens,outputTokens,cost,includedCost,currency\r\nm1,2,200,80,19,1.000000003,0,USD\r\n'=m2,1,100,40,10,0.02,0.02,USD\r\n",
    );
  });

  it('is every call of the period, whatever the size of a page', async () => {
    await recordInvocations(
      platform.platform,
      Array.from({ length: 2_300 }, (_, index) =>
        invocation(10_000 + index, { userId: one.userId, at: '2026-06-15T12:00:00.000Z' }),
      ),
    );
    const { text } = await ask('/invocations?from=2026-06-01T00:00:00Z&to=2026-07-01T00:00:00Z&limit=1', one.key, {
      accept: 'text/csv',
    });
    const [header, ...lines] = text.trimEnd().split('\r\n');
    expect(header).toBe(
      'id,at,kind,userId,apiKeyId,agentId,spaceId,model,priceVersion,inputTokens,cacheReadTokens,cacheWriteTokens,outputTokens,reasoningTokens,cost,currency,isIncludedUsage,usageSource,latencyMs,outcome',
    );
    expect(lines).toHaveLength(2_300);
    expect(new Set(lines).size).toBe(2_300);
    expect(lines[0]).toBe(
      `${idNumbered(12_299)},2026-06-15T12:00:00.000Z,chat,${one.userId},,,,m1,p1,100,40,0,10,0,0.001,USD,false,upstream,5,ok`,
    );
  });
});
