import { nanoUnits } from '@app/kernel';
import * as fc from 'fast-check';
import { idNumbered, invocation, INVOKER } from '../../../../test/fixtures/invocations';
import type { RecordedInvocation } from '../invocations/invocation.events';
import { windowAt } from '../windows';
import { earliestWindow, type ProposedLimit, WhatIf } from './what-if';

const OTHER = idNumbered(2);
const KEY = idNumbered(3);
const limit = (facts: Partial<ProposedLimit> = {}): ProposedLimit => ({
  scope: { type: 'instance' },
  window: 'day',
  timeZone: 'UTC',
  amount: 100n,
  action: 'block',
  included: null,
  ...facts,
});
const at = (hour: number): string => new Date(Date.UTC(2026, 10, 21, hour)).toISOString();
const call = (hour: number, cost: number, facts: Partial<RecordedInvocation> = {}): RecordedInvocation =>
  invocation(hour, { at: at(hour), cost: String(cost), ...facts });
const given = (
  proposed: ProposedLimit,
  calls: readonly RecordedInvocation[],
  from = at(0),
  weekOf?: (userId: string) => string | null,
) => {
  const whatIf = new WhatIf(proposed, from, weekOf);
  for (const each of calls) whatIf.add(each);
  return whatIf.answer();
};

describe('a proposed limit', () => {
  it('rejects what begins when it is used up, until the window resets', () => {
    const calls = [
      call(1, 99),
      call(2, 50),
      call(3, 7, { userId: OTHER, model: 'm2' }),
      call(4, 0, { kind: 'embedding', agentId: KEY }),
      call(5, 8, { apiKeyId: KEY }),
      call(24, 100),
      call(25, 1),
    ];
    expect(given(limit(), calls)).toEqual({
      outcome: 'refused',
      calls: 7,
      cost: '0.000000265',
      affected: { calls: 3, cost: '0.000000016', firstAt: at(3) },
      saved: '0.000000016',
      includedCost: '0',
      users: [
        { key: INVOKER, calls: 2, cost: '0.000000009', firstAt: at(5) },
        { key: OTHER, calls: 1, cost: '0.000000007', firstAt: at(3) },
      ],
      apiKeys: [
        { key: null, calls: 2, cost: '0.000000008', firstAt: at(3) },
        { key: KEY, calls: 1, cost: '0.000000008', firstAt: at(5) },
      ],
      models: [
        { key: 'm1', calls: 2, cost: '0.000000009', firstAt: at(5) },
        { key: 'm2', calls: 1, cost: '0.000000007', firstAt: at(3) },
      ],
    });
  });

  it('rejects calls of free models, too, but for the embeddings that documents and searches need', () => {
    const free: readonly Partial<RecordedInvocation>[] = [
      {},
      { agentId: KEY },
      { kind: 'rerank' },
      { kind: 'embedding' },
      { kind: 'embedding', agentId: KEY },
      { kind: 'embedding', spaceId: KEY },
    ];
    const { affected, saved } = given(
      limit({ amount: 0n }),
      free.map((facts, hour) => call(hour, 0, facts)),
    );
    expect([affected.calls, saved]).toEqual([4, '0']);
  });

  it('warns, and lets everything be spent', () => {
    const { outcome, affected, saved } = given(limit({ action: 'warn' }), [call(1, 100), call(2, 30), call(3, 20)]);
    expect([outcome, affected.calls, affected.cost, saved]).toEqual(['warned', 2, '0.00000005', '0']);
  });

  it('counts what was spent of the window before it was set, and judges none of that', () => {
    const { calls, affected } = given(limit(), [call(1, 200), call(2, 50), call(3, 1)], at(3));
    expect([calls, affected]).toEqual([1, { calls: 1, cost: '0.000000001', firstAt: at(3) }]);
  });

  it('has an account for each one where it names none, and is about one alone where it names it', () => {
    const calls = [
      call(1, 100, { agentId: KEY }),
      call(2, 100, { agentId: OTHER }),
      call(3, 5),
      call(4, 5, { agentId: KEY }),
      call(5, 6, { agentId: OTHER }),
    ];
    expect(given(limit({ scope: { type: 'agent' } }), calls)).toMatchObject({
      calls: 4,
      affected: { calls: 2, cost: '0.000000011' },
    });
    expect(given(limit({ scope: { type: 'agent', id: KEY } }), calls)).toMatchObject({
      calls: 2,
      affected: { calls: 1, cost: '0.000000005' },
    });
  });

  it("runs a user's week from its own beginning", () => {
    const week = { scope: { type: 'user' as const }, window: 'week' as const };
    const calls = [call(1, 100), call(13, 5), call(13 + 7 * 24, 5)];
    expect(given(limit(week), calls, at(0), () => at(12))).toMatchObject({ affected: { calls: 0 } });
    expect(given(limit(week), calls, at(0))).toMatchObject({ affected: { calls: 1, firstAt: at(13) } });
    expect([
      earliestWindow(limit(week), at(12)),
      earliestWindow(limit(), at(12)),
      earliestWindow(limit({ window: 'total' }), at(12)),
    ]).toEqual(['2026-11-14T12:00:00.000Z', at(0), null]);
  });

  it('tells what an included amount would cover', () =>
    expect(given(limit({ included: 10n }), [call(1, 9), call(2, 5), call(3, 5)]).includedCost).toBe('0.000000014'));

  it('never lets a window overspend by more than a call, and saves what it rejects', () => {
    const drawn = fc.array(fc.record({ hour: fc.nat(2_000), cost: fc.nat(80) }), { maxLength: 60 });
    fc.assert(
      fc.property(
        drawn,
        fc.constantFrom('day', 'week', 'month', 'total'),
        fc.integer({ min: 1, max: 200 }),
        (facts, window, amount) => {
          const calls = facts.toSorted((a, b) => a.hour - b.hour).map(({ hour, cost }) => call(hour, cost));
          const proposed = limit({ window: window as 'day', timeZone: 'Europe/Berlin', amount: BigInt(amount) });
          const answer = given(proposed, calls);
          expect(nanoUnits(answer.cost)).toBe(calls.reduce((sum, { cost }) => sum + BigInt(cost), 0n));
          for (const groups of [answer.users, answer.apiKeys, answer.models])
            expect(groups.reduce((sum, { cost }) => sum + nanoUnits(cost), 0n)).toBe(nanoUnits(answer.saved));
          const windows = new Set(
            calls.map((each) => windowAt({ ...proposed, anchor: null }, Date.parse(each.at)).start),
          ).size;
          expect(nanoUnits(answer.cost) - nanoUnits(answer.saved)).toBeLessThanOrEqual(
            BigInt(windows) * (BigInt(amount) + 79n),
          );
        },
      ),
    );
  });
});
