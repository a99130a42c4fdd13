import { idNumbered, invocation, recordInvocations } from '../fixtures/invocations';
import type { Answer } from './harness';
import { AGENT, ask, MARCH, one, other, platform, withUsage } from './usage-world';

withUsage();

interface Invocation {
  readonly id: string;
  readonly agentId?: string;
  readonly usage: object;
}

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

describe('one model call', () => {
  it('is shown as in the list, to whom it is listed', async () => {
    const { body } = await ask<{ items: Invocation[] }>(`/invocations?${MARCH}`);
    for (const listed of body.items) expect((await ask(`/invocations/${listed.id}`)).body).toEqual(listed);
    expect((await ask(`/invocations/${idNumbered(2)}`, one.key)).body).toEqual(body.items[1]);
  });

  it('of another user looks like one that there is not', async () => {
    const answers = await Promise.all(
      [idNumbered(3), idNumbered(4)].map((id) => ask<{ detail: string }>(`/invocations/${id}`, one.key)),
    );
    const shown = answers.map(({ status, body }, index) => [
      status,
      JSON.stringify(body)
        .replaceAll(idNumbered(3 + index), 'ID')
        .replace(/"(requestId|instance)":"[^"]*"/gu, ''),
    ]);
    expect(shown[0]?.[0]).toBe(404);
    expect(shown[0]).toEqual(shown[1]);
    expect((await ask('/invocations/no-id', one.key)).status).toBe(404);
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
      'id,at,kind,userId,apiKeyId,agentId,spaceId,model,priceVersion,inputTokens,cacheReadTokens,cacheWriteTokens,outputTokens,reasoningTokens,cost,currency,isIncludedUsage,usageSource,latencyMs,outcome,images,characters,seconds',
    );
    expect(lines).toHaveLength(2_300);
    expect(new Set(lines).size).toBe(2_300);
    expect(lines[0]).toBe(
      `${idNumbered(12_299)},2026-06-15T12:00:00.000Z,chat,${one.userId},,,,m1,p1,100,40,0,10,0,0.001,USD,false,upstream,5,ok,,,`,
    );
  });
});
