import { idNumbered } from '../../../test/fixtures/invocations';
import { begun, callOf, ended, openSpending, type Spending } from '../../../test/fixtures/spending';

const USER = idNumbered(1);
const ofUser = { type: 'user', id: USER } as const;
const ofAll = { type: 'instance', id: null } as const;
const free = callOf(USER, 0);
const asked = { ...free, isAskedFor: true } as const;

let spending: Spending;
beforeEach(() => (spending = openSpending()));

describe('a call that costs nothing', () => {
  it('begins unless somebody asks for it who has used their limit up, and holds nothing', async () => {
    const limitId = await spending.setLimit(ofUser);
    const { ledger } = spending.process();
    expect((await ledger.begin(asked)).isHeld).toBe(false);
    expect(await spending.state(limitId)).toEqual([0n, 0n]);
    await (await ledger.begin(callOf(USER, 100))).settle(ended(100));
    expect(await begun(ledger.begin(asked))).toBeUndefined();
    expect(await begun(ledger.begin(free))).toBeDefined();
    const { events } = await spending.log.readAll();
    expect(events.filter(({ type }) => type === 'SpendMoved')).toHaveLength(2);
  });
});

describe('included usage', () => {
  const included = async (cost = 10): Promise<boolean> => {
    const call = await spending.process().ledger.begin(callOf(USER, cost));
    await call.settle(ended(cost));
    return call.isIncludedUsage;
  };

  it('is what begins before the included amount of a limit is spent, whatever limits include none', async () => {
    await spending.setLimit(ofAll, { amount: '1' });
    await spending.setLimit(ofUser, { includedAmount: '0.00000002' });
    expect([await included(), await included(), await included()]).toEqual([true, true, false]);
  });

  it('is not what one of two limits no longer includes', async () => {
    await spending.setLimit(ofAll, { includedAmount: '0.00000009' });
    await spending.setLimit(ofUser, { includedAmount: '0.00000001' });
    expect([await included(), await included()]).toEqual([true, false]);
  });

  it('is nothing where no limit includes any', async () => {
    await spending.setLimit(ofUser);
    expect(await included()).toBe(false);
  });
});

describe('calls that cannot be recorded', () => {
  it('keep others from beginning once too many wait for the log', async () => {
    const { ledger, kill } = spending.process();
    kill();
    // Those that are being written, and those that wait.
    const beginMany = async (): Promise<void> => {
      for (let count = 0; count < 10_300; count += 1) void (await ledger.begin(free)).settle(ended(0));
    };
    await expect(beginMany()).rejects.toMatchObject({ reason: 'usage could not be recorded for a while' });
  });
});
