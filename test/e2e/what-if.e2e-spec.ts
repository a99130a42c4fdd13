import { idNumbered } from '../fixtures/invocations';
import { KEY, NOVEMBER, OPERATIONS, operator, operatorId, platform, withInvocations } from './restating-world';

withInvocations();

describe('what if there had been a limit', () => {
  const whatIf = (limit: object, period: object = NOVEMBER) =>
    platform.call<{ affected: { calls: number } }>(`${OPERATIONS}/what-if`, {
      method: 'POST',
      key: operator,
      body: { ...period, limit },
    });

  it('says whom it would have rejected, and writes nothing', async () => {
    const recorded = async () =>
      (
        await platform.call<{ items: { id: string }[] }>(`/api/v1/audit/events?limit=100&actor=key:${operatorId}`)
      ).body.items.map(({ id }) => id);
    const before = await recorded();
    expect(before.length).toBeGreaterThan(0);
    const { status, body } = await whatIf({ scope: { type: 'apiKey' }, amount: '5990', window: 'day' });
    expect([status, body]).toEqual([
      200,
      {
        from: '2026-11-01T00:00:00.000Z',
        to: '2026-12-01T00:00:00.000Z',
        currency: 'USD',
        outcome: 'refused',
        calls: 600,
        cost: '6000',
        affected: { calls: 1, cost: '10', firstAt: '2026-11-10T00:00:00.000Z' },
        saved: '10',
        includedCost: '0',
        users: [{ key: idNumbered(1), calls: 1, cost: '10', firstAt: '2026-11-10T00:00:00.000Z' }],
        apiKeys: [{ key: KEY, calls: 1, cost: '10', firstAt: '2026-11-10T00:00:00.000Z' }],
        models: [{ key: 'm1', calls: 1, cost: '10', firstAt: '2026-11-10T00:00:00.000Z' }],
      },
    ]);
    expect(await recorded()).toEqual(before);
  });

  it('is about all, or about one', async () => {
    expect((await whatIf({ scope: { type: 'instance' }, amount: '6000', window: 'total' })).body).toMatchObject({
      calls: 602,
      affected: { calls: 2 },
    });
    expect(
      (await whatIf({ scope: { type: 'apiKey', id: idNumbered(8) }, amount: '0', window: 'week' })).body,
    ).toMatchObject({ calls: 0, affected: { calls: 0, firstAt: null } });
    expect(
      (await whatIf({ scope: { type: 'user', id: idNumbered(1) }, amount: '0', window: 'week', action: 'warn' })).body,
    ).toMatchObject({ outcome: 'warned', affected: { calls: 602 }, saved: '0' });
  });

  it('takes amounts as numbers, too', async () => {
    const limit = { scope: { type: 'apiKey' }, window: 'day' };
    const inWords = await whatIf({ ...limit, amount: '5990', includedAmount: '0.5' });
    expect(inWords.body).toMatchObject({ affected: { calls: 1 }, includedCost: '10' });
    expect((await whatIf({ ...limit, amount: 5990, includedAmount: 0.5 })).body).toEqual(inWords.body);
  });

  it('counts what was spent before it in the same window', async () => {
    const period = { from: '2026-11-11T00:00:00Z', to: NOVEMBER.to };
    expect((await whatIf({ scope: { type: 'instance' }, amount: '6000', window: 'month' }, period)).body).toMatchObject(
      { calls: 2, affected: { calls: 2 } },
    );
    expect((await whatIf({ scope: { type: 'instance' }, amount: '6000', window: 'day' }, period)).body).toMatchObject({
      calls: 2,
      affected: { calls: 0 },
    });
  });

  it('names what is wrong', async () => {
    expect((await whatIf({ scope: { type: 'instance', id: KEY }, amount: '1', window: 'day' })).body).toMatchObject({
      status: 400,
      errors: [{ path: 'limit.scope.id' }],
    });
    expect(
      (await whatIf({ scope: { type: 'planet' }, amount: '-1', window: 'day', timeZone: 'Mars/Base' })).body,
    ).toMatchObject({
      status: 400,
      errors: expect.arrayContaining([
        expect.objectContaining({ path: 'limit.amount' }),
        expect.objectContaining({ path: 'limit.timeZone' }),
      ]) as unknown,
    });
  });
});
