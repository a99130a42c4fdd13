import type { EventLog } from '@app/event-log';
import { Unavailable } from '@app/kernel';
import { idNumbered } from '../../../test/fixtures/invocations';
import { LaggingLogs } from '../../../test/fixtures/lagging-logs';
import { callOf, callWithInput, ended, type SpendingOver, spendingOver } from '../../../test/fixtures/spending';
import { assertElevenOfFifty } from '../../../test/fixtures/spending-room';
import { until } from '../../../test/fixtures/until';
import type { Ledger } from './ledger';
import type { MeteredCall } from './metering';

const USER = idNumbered(1);
const ofUser = { type: 'user', id: USER } as const;

/** Each process has an adapter of its own to one server, which decides before it shows. */
describe('the ledger on EventStoreDB', () => {
  let server: LaggingLogs;
  let spending: SpendingOver<EventLog>;
  let appends: jest.SpyInstance[];

  beforeEach(async () => {
    server = await LaggingLogs.open(5);
    const [shared, ...others] = server.logs as [EventLog, ...EventLog[]];
    appends = others.map((log) => jest.spyOn(log, 'append'));
    spending = spendingOver(shared, undefined, () => others.pop() ?? shared);
  });
  afterEach(() => server.close());

  const appended = (): number => appends.reduce((sum, { mock }) => sum + mock.calls.length, 0);

  it('lets eleven of fifty calls at once through where there is room for ten and a half, over two processes', () =>
    assertElevenOfFifty(spending));

  it('counts each call once while three processes race for one account, and tries no more than somebody wins', async () => {
    const limitId = await spending.setLimit(ofUser, { amount: '1' });
    const processes = [spending.process(), spending.process(), spending.process()];
    let late = 0;
    /** On a busy machine who loses every race for two seconds is told so; it tries again, as its client would. */
    const insisting = async (ledger: Ledger): Promise<MeteredCall> => {
      for (;;) {
        try {
          return await ledger.begin(callOf(USER, 10));
        } catch (error) {
          if (!(error instanceof Unavailable)) throw error;
          late += 1;
        }
      }
    };
    await Promise.all(
      processes.map(async ({ ledger }) => {
        for (let call = 0; call < 15; call += 1) await (await insisting(ledger)).settle(ended(7));
      }),
    );
    // What is granted too late is given back when it comes.
    await until(async () => (await spending.state(limitId))[1] === 0n, 'the end of every hold');
    expect(await spending.state(limitId)).toEqual([315n, 0n]);
    expect(await spending.invocations()).toHaveLength(45);
    // A hold, a record and a settlement for each, and at most two rejections behind every move of an account that won.
    expect(appended()).toBeLessThan((45 + late) * (1 + 2 * 3) + 10);
  });

  it('finds what a process had recorded before it died, also where that is not shown yet', async () => {
    const limitId = await spending.setLimit(ofUser);
    const [dying, living] = [spending.process(), spending.process()];
    const call = await dying.ledger.begin(callWithInput(USER, 30, 7));
    server.hide();
    void call.settle(ended(20));
    await server.hidden();
    dying.kill();
    const before = appended();
    const state = async () => {
      const { spent, held } = await living.ledger.state(await living.limits.byId(limitId));
      return [spent, held];
    };
    expect(await state()).toEqual([0n, 30n]);
    await until(() => appended() > before, 'a try to record it in its place');
    expect(appended()).toBe(before + 1);

    server.show();
    await until(async () => (await state())[1] === 0n, 'the end of the hold');
    expect(await state()).toEqual([20n, 0n]);
    expect((await spending.invocations()).map(({ cost, outcome }) => [cost, outcome])).toEqual([['20', 'ok']]);
  });
});
