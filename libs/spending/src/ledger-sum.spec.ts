import * as fc from 'fast-check';
import { rounds } from '../../../test/faults/log/rounds';
import { idNumbered } from '../../../test/fixtures/invocations';
import { begun, callWithInput, ended, openSpending } from '../../../test/fixtures/spending';
import type { MeteredCall } from './metering';

const USER = idNumbered(1);
const OTHER = idNumbered(2);
const ofUser = { type: 'user', id: USER } as const;
const ofAll = { type: 'instance', id: null } as const;

describe('the ledger', () => {
  it('equals the sum of the invocations whatever happens: calls at once, aborts, crashes or processes that are taken for dead, new windows', async () => {
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          do: fc.constant('begin' as const),
          on: fc.nat(1),
          estimate: fc.integer({ min: 1, max: 40 }),
          input: fc.nat(40),
          user: fc.constantFrom(USER, OTHER),
        }),
      },
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('end' as const),
          which: fc.nat(20),
          share: fc.integer({ min: 0, max: 10 }),
        }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), on: fc.nat(1) }) },
      {
        weight: 1,
        arbitrary: fc.record({ do: fc.constant('silence' as const), on: fc.nat(1), isSilent: fc.boolean() }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), hours: fc.integer({ min: 1, max: 30 }) }) },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 12 }),
        fc.infiniteStream(fc.nat(29)),
        fc.boolean(),
        async (rounds, chance, kills) => {
          const draw = (): number => chance.next().value as number;
          const world = openSpending({ delay: () => draw() % 3, isLost: () => draw() === 0 });
          const limits = [await world.setLimit(ofUser), await world.setLimit(ofAll, { amount: '0.00000015' })];
          const processes = [world.process(), world.process()];
          const running: { readonly call: MeteredCall; readonly by: string; readonly estimate: number }[] = [];
          const answered = new Set<string>();
          for (const round of rounds) {
            const work = round.map(async (action) => {
              if (action.do === 'pass') world.pass(action.hours * 3_600_000);
              if (action.do === 'silence' && !kills) processes[action.on]?.setSilent(action.isSilent);
              if (action.do === 'begin') {
                const { ledger, id, died } = processes[action.on] as (typeof processes)[number];
                const call = await Promise.race([
                  begun(
                    ledger.begin(callWithInput(action.user, action.estimate, Math.min(action.input, action.estimate))),
                  ),
                  died,
                ]);
                if (call === undefined) return;
                answered.add(call.invocationId);
                running.push({ call, by: id, estimate: action.estimate });
              }
              if (action.do === 'end') {
                const [ending] = running.splice(action.which % Math.max(1, running.length), 1);
                if (ending !== undefined)
                  void ending.call.settle(ended(Math.floor((ending.estimate * action.share) / 10)));
              }
              if (action.do === 'kill' && kills) {
                const killed = processes[action.on] as (typeof processes)[number];
                killed.kill();
                processes[action.on] = world.process();
                for (let index = running.length - 1; index >= 0; index -= 1)
                  if (running[index]?.by === killed.id) running.splice(index, 1);
              }
            });
            await Promise.all(work);
          }
          for (const { call } of running) void call.settle(ended(1));
          await Promise.all(processes.map(({ ledger }) => ledger.close(10_000)));
          const { states, calls } = await world.atRest(limits);
          const sum = (of: typeof calls): number => of.reduce((all, { cost }) => all + Number(cost), 0);
          expect([...answered].filter((id) => !calls.some((call) => call.id === id))).toEqual([]);
          expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
          for (const [index, { spent, start }] of states.entries()) {
            const own = calls.filter(({ userId }) => index === 1 || userId === USER);
            const byDay = Map.groupBy(own, ({ at }) => at.slice(0, 10));
            const most = index === 0 ? 100 : 150;
            // One that was rejected by another limit in the moment of a kill is recorded, though it was never made.
            for (const day of byDay.values())
              expect(sum(day.filter(({ id }) => answered.has(id)))).toBeLessThan(most + 40);
            const inWindow = byDay.get((start as string).slice(0, 10)) ?? [];
            expect(Number(spent)).toBeLessThanOrEqual(sum(inWindow));
            // Of a call that was never made, and whose record was made by a process that died right behind that, some limits do not know.
            const made = kills ? inWindow.filter(({ id }) => answered.has(id)) : inWindow;
            expect(Number(spent)).toBeGreaterThanOrEqual(sum(made));
          }
        },
      ),
      { numRuns: rounds(40) },
    );
  });
});
