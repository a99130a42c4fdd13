import { idNumbered } from '../../../test/fixtures/invocations';
import { callOf, ended, openSpending } from '../../../test/fixtures/spending';

const USER = idNumbered(1);

describe('a call that a used-up limit rejects', () => {
  it.each([
    ['their own', { type: 'user', id: USER }, { spent: '0.0000001', held: '0', amount: '0.0000001' }],
    ['one of all, not what others spend under it', { type: 'instance', id: null }, {}],
  ] as const)('tells who made it of the limit, and where it is %s', async (_, scope, sums) => {
    const spending = openSpending();
    const limitId = await spending.setLimit(scope);
    const { ledger } = spending.process();
    await (await ledger.begin(callOf(USER, 100))).settle(ended(100));
    const rejected = await ledger.begin(callOf(USER, 1)).catch((error: unknown) => error);
    expect(rejected).toMatchObject({
      code: 'usage_limit_exceeded',
      facts: { limitId, scope: scope.type, window: 'day', resetsAt: '2026-11-22T00:00:00.000Z' },
    });
    const { facts } = rejected as { readonly facts: Readonly<Record<string, unknown>> };
    const given = Object.fromEntries(
      Object.entries(facts).filter(([name]) => ['spent', 'held', 'amount'].includes(name)),
    );
    expect(given).toEqual(sums);
  });
});
