import { isDomainError } from '@app/kernel';
import * as fc from 'fast-check';
import { rounds } from '../../../test/faults/log/rounds';
import { idNumbered } from '../../../test/fixtures/invocations';
import { begun, callOf, ended, openSpending, type Spending } from '../../../test/fixtures/spending';
import type { MeteredCall } from './metering';

const USER = idNumbered(1);
const KEY = idNumbered(3);
const HOUR_MS = 60 * 60_000;
const ofUser = { type: 'user', id: USER } as const;

/** A change that others were faster with, time and again, is rejected. */
const unlessLost = async (change: Promise<unknown>): Promise<unknown> =>
  change.catch((error: unknown) => (isDomainError(error, 'conflict') ? undefined : Promise.reject(error)));

let spending: Spending;
beforeEach(() => (spending = openSpending()));

describe('the ledger, while limits change,', () => {
  it('counts what a key spent while it had no limit, once it has one again', async () => {
    await spending.addKey(KEY, USER, { amount: '0.0000001', window: 'day' });
    const { ledger } = spending.process();
    const spend = async (cost: number) => (await ledger.begin(callOf(USER, cost, KEY))).settle(ended(cost));
    await spend(10);
    await spending.limitKey(KEY, null);
    await spend(80);
    await spending.limitKey(KEY, { amount: '0.0000001', window: 'day' });
    expect(await spending.state(KEY)).toEqual([90n, 0n]);
    await spend(10);
    expect(await begun(ledger.begin(callOf(USER, 1, KEY)))).toBeUndefined();
  });

  it('counts a call in the window that it began in, also where its limit counts by other windows since', async () => {
    const limitId = await spending.setLimit(ofUser, { window: 'month' });
    const { ledger } = spending.process();
    const running = await ledger.begin(callOf(USER, 30));
    spending.pass(24 * HOUR_MS);
    await spending.updateLimit(limitId, { window: 'day' });
    expect(await spending.state(limitId)).toEqual([0n, 30n]);
    await running.settle(ended(20));
    expect(await spending.state(limitId)).toEqual([0n, 0n]);
    await spending.updateLimit(limitId, { window: 'month' });
    expect(await spending.state(limitId)).toEqual([20n, 0n]);
  });

  // Without kills: a process that dies behind the record of a call that has no hold under a new limit leaves nothing there to be found.
  it('equals the sum of the invocations of its window whatever happens to the limit meanwhile', async () => {
    const window = fc.constantFrom('day' as const, 'week' as const, 'month' as const, 'total' as const);
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          do: fc.constant('begin' as const),
          on: fc.nat(1),
          estimate: fc.integer({ min: 1, max: 20 }),
        }),
      },
      { weight: 4, arbitrary: fc.record({ do: fc.constant('end' as const), which: fc.nat(20) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), hours: fc.integer({ min: 1, max: 60 }) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('change' as const), window }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('key' as const), window: fc.option(window) }) },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 12 }),
        fc.infiniteStream(fc.nat(29)),
        async (rounds, chance) => {
          const draw = (): number => chance.next().value as number;
          const world = openSpending({ delay: () => draw() % 3, isLost: () => draw() === 0 });
          await world.addKey(KEY, USER, { amount: '1', window: 'day' });
          const ofUser = await world.setLimit({ type: 'user', id: USER }, { amount: '1' });
          const processes = [world.process(), world.process()];
          const running: { readonly call: MeteredCall; readonly estimate: number }[] = [];
          for (const round of rounds) {
            const work = round.map(async (action) => {
              if (action.do === 'pass') world.pass(action.hours * HOUR_MS);
              if (action.do === 'change')
                await unlessLost(world.updateLimit(ofUser, { amount: '1', window: action.window }));
              if (action.do === 'key')
                await unlessLost(
                  world.limitKey(KEY, action.window === null ? null : { amount: '1', window: action.window }),
                );
              if (action.do === 'begin') {
                const { ledger } = processes[action.on] as (typeof processes)[number];
                const call = await begun(ledger.begin(callOf(USER, action.estimate, KEY)));
                if (call !== undefined) running.push({ call, estimate: action.estimate });
              }
              if (action.do === 'end') {
                const [ending] = running.splice(action.which % Math.max(1, running.length), 1);
                if (ending !== undefined) void ending.call.settle(ended(ending.estimate));
              }
            });
            await Promise.all(work);
          }
          for (const { call } of running) void call.settle(ended(1));
          await Promise.all(processes.map(({ ledger }) => ledger.close(10_000)));
          await world.limitKey(KEY, { amount: '1', window: 'total' });
          const { states, calls } = await world.atRest([ofUser, KEY]);
          for (const { start, spent } of states)
            expect(Number(spent)).toBe(
              calls.filter(({ at }) => at >= (start ?? '')).reduce((sum, { cost }) => sum + Number(cost), 0),
            );
        },
      ),
      { numRuns: rounds(40) },
    );
  });
});
