import { idNumbered } from '../../../test/fixtures/invocations';
import { usageOf } from '@app/models';
import {
  begun,
  callOf,
  callWithInput,
  ended,
  openSpending,
  type Spending,
  TEST_MODEL,
} from '../../../test/fixtures/spending';

const USER = idNumbered(1);
const OTHER = idNumbered(2);
const ofUser = { type: 'user', id: USER } as const;
const ofAll = { type: 'instance', id: null } as const;

let spending: Spending;
beforeEach(() => (spending = openSpending()));

describe('the ledger, where processes die,', () => {
  it('sets free what a killed process held, and counts what it had recorded', async () => {
    const limitId = await spending.setLimit(ofUser);
    const [dying, living] = [spending.process(), spending.process()];
    const calls = await Promise.all([dying.ledger.begin(callOf(USER, 30)), dying.ledger.begin(callOf(USER, 30))]);
    const real = spending.log.append.bind(spending.log);
    const append = jest.spyOn(spending.log, 'append').mockImplementation(async (stream, ...rest) => {
      const result = await real(stream, ...rest);
      // It dies between the record and the account.
      if (stream.startsWith('usage-')) dying.kill();
      return result;
    });
    void calls[0].settle(ended(20));
    while ((await spending.invocations()).length === 0) await new Promise(setImmediate);
    append.mockRestore();
    expect(await begun(living.ledger.begin(callOf(USER, 80)))).toBeDefined();
    expect(await spending.state(limitId)).toEqual([20n, 80n]);
  });

  it('records calls of a killed process with what their input costs, each once, whoever finds them under however many limits', async () => {
    const limitIds = [await spending.setLimit(ofUser), await spending.setLimit(ofAll, { amount: '1' })];
    const [dying, ...living] = [spending.process(), spending.process(), spending.process()];
    const calls = [
      await dying.ledger.begin({ ...callWithInput(USER, 30, 7), agentId: OTHER, spaceId: OTHER }),
      await dying.ledger.begin(callWithInput(USER, 30, 5)),
    ];
    const late = await spending.setLimit({ type: 'space', id: OTHER }, { amount: '1' });
    expect(await spending.state(late)).toEqual([0n, 0n]);
    dying.kill();
    await Promise.all(
      living.flatMap(({ ledger, limits }) => limitIds.map(async (limitId) => ledger.state(await limits.byId(limitId)))),
    );
    await Promise.all(living.map(({ ledger }) => ledger.close(10_000)));
    for (const limitId of limitIds) expect(await spending.state(limitId)).toEqual([12n, 0n]);
    expect(await spending.state(late)).toEqual([7n, 0n]);
    const records = await spending.invocations();
    expect(records.map(({ id }) => id).toSorted()).toEqual(calls.map(({ invocationId }) => invocationId).toSorted());
    expect(records.find(({ id }) => id === calls[0]?.invocationId)).toMatchObject({
      kind: 'chat',
      userId: USER,
      apiKeyId: null,
      agentId: OTHER,
      spaceId: OTHER,
      model: 'm',
      priceVersion: 'v1',
      inputTokens: 7,
      outputTokens: 0,
      cost: '7',
      currency: 'USD',
      usageSource: 'counted',
      outcome: 'aborted',
    });
  });

  it('holds, settles and records images, characters and seconds at their prices, of killed processes too', async () => {
    const limitId = await spending.setLimit(ofUser, { amount: '1' });
    const pricing = { currency: 'USD', input: '0', output: '0', per: 1_000_000, perImage: '0.00000002' };
    const model = { ...TEST_MODEL, pricing };
    const painting = { ...callOf(USER, 0), kind: 'image' as const, model, estimate: usageOf({}), units: { images: 3 } };
    const [dying, living] = [spending.process(), spending.process()];
    const call = await living.ledger.begin(painting);
    await dying.ledger.begin(painting);
    expect(await spending.state(limitId)).toEqual([0n, 120n]);
    await call.settle({ ...ended(0), model, usage: usageOf({}), units: { images: 2 } });
    expect(await spending.state(limitId)).toEqual([40n, 60n]);
    dying.kill();
    await living.ledger.state(await living.limits.byId(limitId));
    await living.ledger.close(10_000);
    expect(await spending.state(limitId)).toEqual([100n, 0n]);
    expect(
      (await spending.invocations()).map(({ kind, units, cost, outcome }) => [kind, units, cost, outcome]),
    ).toEqual([
      ['image', { images: 2 }, '40', 'ok'],
      ['image', { images: 3 }, '60', 'aborted'],
    ]);
  });

  it('records in the place of a process that has recorded before, and of one that died while others summarised its holds', async () => {
    const limitId = await spending.setLimit(ofUser, { amount: '1', includedAmount: '1' });
    const [dying, living] = [spending.process(), spending.process()];
    await (await dying.ledger.begin(callWithInput(USER, 30, 7))).settle(ended(20));
    const { invocationId } = await dying.ledger.begin(callWithInput(USER, 30, 5));
    for (let count = 0; count < 60; count += 1) await (await living.ledger.begin(callOf(USER, 1))).settle(ended(0));
    dying.kill();
    expect(spending.log.events.some(({ type }) => type === 'SpendSummarised')).toBe(true);
    expect(await spending.state(limitId)).toEqual([25n, 0n]);
    expect((await spending.invocations()).find(({ id }) => id === invocationId)).toMatchObject({
      cost: '5',
      isIncludedUsage: true,
      outcome: 'aborted',
    });
  });

  it('counts a call once whose process was only taken for dead: what others recorded in its place stands', async () => {
    const limitIds = [await spending.setLimit(ofUser), await spending.setLimit(ofAll, { amount: '1' })] as const;
    const paused = spending.process();
    const running = [
      await paused.ledger.begin(callWithInput(USER, 30, 7)),
      await paused.ledger.begin(callWithInput(USER, 30, 5)),
    ] as const;
    paused.setSilent(true);
    // Under one limit alone: under the other its holds stay.
    expect(await spending.state(limitIds[0])).toEqual([12n, 0n]);
    paused.setSilent(false);
    await running[0].settle(ended(20));
    await (await paused.ledger.begin(callOf(USER, 3))).settle(ended(3));
    await running[1].settle(ended(20));
    for (const limitId of limitIds) expect(await spending.state(limitId)).toEqual([15n, 0n]);
    expect((await spending.invocations()).map(({ cost }) => cost).toSorted()).toEqual(['3', '5', '7']);
  });

  it('lets calls begin and end while nobody knows what a killed process had recorded, and keeps its holds until somebody does', async () => {
    const limitId = await spending.setLimit(ofUser);
    const [dying, living] = [spending.process(), spending.process()];
    await dying.ledger.begin(callOf(USER, 60));
    dying.kill();
    spending.setViewLate(true);
    const running = await living.ledger.begin(callOf(USER, 30));
    expect(await spending.state(limitId)).toEqual([0n, 90n]);
    await running.settle(ended(10));
    expect(await spending.state(limitId)).toEqual([10n, 60n]);
    spending.setViewLate(false);
    expect(await spending.state(limitId)).toEqual([10n, 0n]);
  });
});
