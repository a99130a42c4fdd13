import { usageOf } from '@app/models';
import { idNumbered } from '../../../test/fixtures/invocations';
import { begun, callOf, callWithInput, openSpending, type Spending } from '../../../test/fixtures/spending';

const USER = idNumbered(1);
const ofUser = { type: 'user', id: USER } as const;

let spending: Spending;
beforeEach(() => (spending = openSpending()));

describe('the ledger, before a call,', () => {
  it('holds what the dearest model costs that may answer', async () => {
    const limitId = await spending.setLimit(ofUser);
    const call = callOf(USER, 40);
    const free = { ...call, model: { ...call.model, pricing: 'free' as const }, mayAnswer: [call.model] };
    expect(await begun(spending.process().ledger.begin(free))).toBeDefined();
    expect(await spending.state(limitId)).toEqual([0n, 40n]);
  });

  it('holds the price of input that may be written to a cache', async () => {
    const limitId = await spending.setLimit(ofUser);
    const model = {
      ...callOf(USER, 0).model,
      pricing: { currency: 'USD', input: '0.001', cacheWrite: '0.002', output: '0', per: 1_000_000 },
    };
    expect(
      await begun(spending.process().ledger.begin({ ...callOf(USER, 0), model, estimate: usageOf({ input: 30 }) })),
    ).toBeDefined();
    expect(await spending.state(limitId)).toEqual([0n, 60n]);
  });

  it('holds the most that input may be, and records of a lost call what was counted', async () => {
    const limitId = await spending.setLimit(ofUser);
    const dying = spending.process();
    await dying.ledger.begin({ ...callWithInput(USER, 30, 7), mostInput: 28 });
    // 28 of input and 23 of output.
    expect(await spending.state(limitId)).toEqual([0n, 51n]);
    dying.kill();
    expect(await spending.state(limitId)).toEqual([7n, 0n]);
  });
});
