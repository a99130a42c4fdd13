import { begun, callOf, callWithInput, ended, openSpending, TERMS } from '../../../test/fixtures/spending';
import { until } from '../../../test/fixtures/until';
import { LimitWindows } from './limit-windows';

const [USER, KEY] = ['01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000002'];
const scope = { type: 'user', id: USER } as const;
const OF_KEY = { amount: TERMS.amount, window: 'day', action: 'block' } as const;

/** A platform that counted in USD, and was given EUR since. */
const setUp = () => {
  const spending = openSpending();
  const call = async (process: ReturnType<typeof spending.process>, cost: number, keyId?: string) =>
    (await process.ledger.begin(callOf(USER, cost, keyId))).settle(ended(cost));
  return { ...spending, call, before: spending.process(), now: spending.process('EUR') };
};

describe('a spend limit of a platform that was given another currency', () => {
  it('lets no call begin that costs the other currency, says which it is in, and adds nothing', async () => {
    const { setLimit, state, call, before, now } = setUp();
    const limit = await setLimit(scope);
    await call(before, 30);
    await expect(now.ledger.begin(callOf(USER, 5))).rejects.toMatchObject({
      code: 'usage_limit_exceeded',
      facts: { limitId: limit, currency: 'USD' },
    });
    expect(await state(limit)).toEqual([30n, 0n]);
    expect(await now.ledger.state(await now.limits.byId(limit))).toMatchObject({ currency: 'USD', spent: 30n });
    await call(before, 20);
    expect(await state(limit)).toEqual([50n, 0n]);
    // Nor is the caller told what is left of it.
    const windowOf = ({ limits, ledger }: typeof now) => new LimitWindows(limits, ledger).windowOf(callOf(USER, 1));
    expect(await windowOf(before)).toMatchObject({ used: '0.00000005' });
    expect(await windowOf(now)).toBeNull();
  });

  it('lets calls begin uncounted where it only warns', async () => {
    const { setLimit, state, call, before, now, invocations } = setUp();
    const limit = await setLimit(scope, { action: 'warn', includedAmount: TERMS.amount });
    await call(before, 30);
    const running = await now.ledger.begin(callOf(USER, 500));
    expect([running.isHeld, running.isIncludedUsage]).toEqual([false, false]);
    await running.settle(ended(500));
    expect(await state(limit)).toEqual([30n, 0n]);
    expect((await invocations()).map(({ currency }) => currency)).toEqual(['USD', 'EUR']);
  });

  it('counts what costs its own currency alone, from the beginning of its window on', async () => {
    const { setLimit, call, before, now } = setUp();
    await call(before, 30);
    await call(now, 7);
    const limit = await setLimit(scope, { currency: 'EUR' });
    await call(now, 4);
    expect(await now.ledger.state(await now.limits.byId(limit))).toMatchObject({ currency: 'EUR', spent: 11n });
    expect(await begun(before.ledger.begin(callOf(USER, 1)))).toBeUndefined();
  });

  it('of an API key stays in the currency that it counted in, until it is set again', async () => {
    const { addKey, limitKey, call, before, now } = setUp();
    await addKey(KEY, USER, OF_KEY);
    await call(before, 30, KEY);
    expect(await begun(now.ledger.begin(callOf(USER, 5, KEY)))).toBeUndefined();
    await limitKey(KEY, { ...OF_KEY, window: 'total' });
    expect(await begun(now.ledger.begin(callOf(USER, 5, KEY)))).toBeUndefined();
    const stateOf = async () => now.ledger.state(await now.limits.byId(KEY));
    expect(await stateOf()).toMatchObject({ currency: 'USD', spent: 30n });
    await limitKey(KEY, null);
    await limitKey(KEY, OF_KEY);
    await call(now, 5, KEY);
    expect(await stateOf()).toMatchObject({ currency: 'EUR', spent: 5n, held: 0n });
  });

  it('is given back what a dead process held, whose call is recorded in the currency that it was priced in', async () => {
    const { setLimit, before, now, invocations } = setUp();
    const old = await setLimit(scope);
    await before.ledger.begin(callWithInput(USER, 30, 7));
    before.kill();
    const limit = await setLimit(scope, { currency: 'EUR' });
    const stateOf = async (id: string) => now.ledger.state(await now.limits.byId(id));
    await until(async () => (await stateOf(old)).held === 0n, 'the hold of the dead');
    expect([(await stateOf(old)).spent, (await stateOf(limit)).spent]).toEqual([7n, 0n]);
    expect(await invocations()).toMatchObject([{ cost: '7', currency: 'USD', outcome: 'aborted' }]);
  });
});
