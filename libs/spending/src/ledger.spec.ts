import { idNumbered } from '../../../test/fixtures/invocations';
import { begun, callOf, ended, openSpending, type Spending } from '../../../test/fixtures/spending';
import { assertElevenOfFifty } from '../../../test/fixtures/spending-room';

const USER = idNumbered(1);
const OTHER = idNumbered(2);
const DAY_MS = 24 * 60 * 60_000;
const ofUser = { type: 'user', id: USER } as const;
const ofAll = { type: 'instance', id: null } as const;

let spending: Spending;
beforeEach(() => (spending = openSpending()));

describe('the ledger', () => {
  it('lets eleven of fifty calls at once through where there is room for ten and a half, over several processes too', () =>
    assertElevenOfFifty(spending));

  it('is closed in time, also while the log takes nothing', async () => {
    const { ledger, kill } = spending.process();
    await (await ledger.begin(callOf(USER, 10))).settle(ended(10));
    expect(await ledger.close(10_000)).toBe(0);
    const running = await ledger.begin(callOf(USER, 10));
    kill();
    void running.settle(ended(10));
    expect(await ledger.close(50)).toBe(1);
  });

  it('says which limit rejects, and when it resets', async () => {
    const limitId = await spending.setLimit(ofUser);
    const { ledger } = spending.process();
    await (await ledger.begin(callOf(USER, 100))).settle(ended(100));
    await expect(ledger.begin(callOf(USER, 1))).rejects.toMatchObject({
      code: 'usage_limit_exceeded',
      facts: {
        limitId,
        scope: 'user',
        window: 'day',
        amount: '0.0000001',
        spent: '0.0000001',
        held: '0',
        resetsAt: '2026-11-22T00:00:00.000Z',
        retryAfterSeconds: 43_200,
      },
    });
    expect(await begun(ledger.begin(callOf(OTHER, 1)))).toBeDefined();
    spending.pass(DAY_MS);
    expect(await begun(ledger.begin(callOf(USER, 1)))).toBeDefined();
  });

  it('lets calls begin that follow each other, however small what is left is beside what they may cost', async () => {
    const limitId = await spending.setLimit(ofUser);
    const { ledger } = spending.process();
    for (let spent = 0; spent < 100; spent += 10) {
      const call = await ledger.begin(callOf(USER, 400));
      // Answered first, settled then.
      void call.settle(ended(10));
    }
    await expect(ledger.begin(callOf(USER, 1))).rejects.toMatchObject({ code: 'usage_limit_exceeded' });
    await ledger.close(10_000);
    expect(await spending.state(limitId)).toEqual([100n, 0n]);
  });

  it('does not wait for calls that run', async () => {
    await spending.setLimit(ofUser);
    const { ledger } = spending.process();
    const running = await ledger.begin(callOf(USER, 400));
    await expect(ledger.begin(callOf(USER, 1))).rejects.toMatchObject({
      code: 'usage_limit_exceeded',
      facts: { spent: '0', held: '0.0000004' },
    });
    await running.settle(ended(10));
  });

  it('keeps nobody out by calls that cannot begin', async () => {
    const wide = await spending.setLimit(ofAll);
    await spending.setLimit(ofUser, { amount: '0' });
    const { ledger } = spending.process();
    for (let round = 0; round < 20; round += 1) {
      const rejected = begun(ledger.begin(callOf(USER, 1_000)));
      const other = begun(ledger.begin(callOf(OTHER, 1)));
      expect(await rejected).toBeUndefined();
      expect(await other).toBeDefined();
    }
    expect(await spending.state(wide)).toEqual([0n, 20n]);
    // Not for a moment was anything held for those that were rejected.
    const moves = await spending.log.readStream(`spendAccount-${wide}`);
    const held = moves.flatMap(({ data }) => (JSON.parse(data) as { held?: { amount: string }[] }).held ?? []);
    expect(held.map(({ amount }) => amount)).toEqual(Array.from({ length: 20 }, () => '1'));
  });

  it('holds nothing under one limit when another rejects', async () => {
    const [wide, narrow] = [
      await spending.setLimit(ofAll, { amount: '1' }),
      await spending.setLimit(ofUser, { amount: '0' }),
    ];
    const { ledger } = spending.process();
    expect(await begun(ledger.begin(callOf(USER, 10)))).toBeUndefined();
    await ledger.close(10_000);
    expect([await spending.state(wide), await spending.state(narrow)]).toEqual([
      [0n, 0n],
      [0n, 0n],
    ]);
  });

  it('holds nothing under one limit when another gave what was left to a call at the same time', async () => {
    const [wide, narrow] = [await spending.setLimit(ofAll), await spending.setLimit(ofUser, { amount: '0.00000001' })];
    const { ledger } = spending.process();
    const calls = await Promise.all([callOf(USER, 10), callOf(USER, 10)].map((call) => begun(ledger.begin(call))));
    expect(calls.filter((call) => call !== undefined)).toHaveLength(1);
    for (const call of calls) await call?.settle(ended(10));
    await ledger.close(10_000);
    expect([await spending.state(wide), await spending.state(narrow)]).toEqual([
      [10n, 0n],
      [10n, 0n],
    ]);
  });

  it('counts what was spent before a limit was set, and calls that run then, once', async () => {
    const { ledger } = spending.process();
    await (await ledger.begin(callOf(USER, 5))).settle(ended(5));
    const running = await ledger.begin(callOf(USER, 7));
    const limitId = await spending.setLimit(ofUser);
    expect(await spending.state(limitId)).toEqual([5n, 0n]);
    await running.settle(ended(7));
    expect(await spending.state(limitId)).toEqual([12n, 0n]);
    await spending.updateLimit(limitId, { window: 'month' });
    expect(await spending.state(limitId)).toEqual([12n, 0n]);
  });

  it('closes when the calls that run have ended, too, or tells how many did not in time', async () => {
    const limitId = await spending.setLimit(ofUser);
    const { ledger } = spending.process();
    const [settled, cancelled, endless] = [
      await ledger.begin(callOf(USER, 10)),
      await ledger.begin(callOf(USER, 10)),
      await ledger.begin(callOf(USER, 10)),
    ];
    expect(await ledger.close(10)).toBe(3);
    cancelled.cancel();
    cancelled.cancel();
    const closed = ledger.close(10_000);
    void settled.settle(ended(7));
    void endless.settle(ended(5));
    expect(await closed).toBe(0);
    expect(await spending.state(limitId)).toEqual([12n, 0n]);
  });

  it('stands where it stood when the clock jumps, and comes back', async () => {
    const limitId = await spending.setLimit(ofUser);
    const { ledger } = spending.process();
    await (await ledger.begin(callOf(USER, 60))).settle(ended(60));
    const running = await ledger.begin(callOf(USER, 30));
    for (const jump of [5 * 60_000, -10 * 60_000, 400 * DAY_MS]) {
      spending.pass(jump);
      expect(await spending.state(limitId)).toEqual(jump > DAY_MS ? [0n, 0n] : [60n, 30n]);
    }
    expect(await begun(ledger.begin(callOf(USER, 100)))).toBeDefined();
    spending.pass(5 * 60_000 - 400 * DAY_MS);
    expect(await spending.state(limitId)).toEqual([60n, 30n]);
    await running.settle(ended(40));
    expect(await spending.state(limitId)).toEqual([100n, 0n]);
    expect(await begun(ledger.begin(callOf(USER, 1)))).toBeUndefined();
  });

  it('folds no more than a bounded number of events', async () => {
    const limitId = await spending.setLimit(ofUser, { amount: '1' });
    const { ledger } = spending.process();
    for (let count = 0; count < 120; count += 1) await (await ledger.begin(callOf(USER, 1))).settle(ended(1));
    const read = jest.spyOn(spending.log, 'readStream');
    const newcomer = spending.process();
    expect(await newcomer.ledger.state(await newcomer.limits.byId(limitId))).toMatchObject({
      spent: 120n,
      held: 0n,
    });
    const lengths = await Promise.all(
      read.mock.results.map(async ({ value }) => ((await value) as readonly unknown[]).length),
    );
    expect(Math.max(...lengths)).toBeLessThanOrEqual(100);
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThan(220);
  });
});
