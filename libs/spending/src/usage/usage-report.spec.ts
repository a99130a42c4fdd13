import { decimalAmount, nanoUnits } from '@app/kernel';
import * as fc from 'fast-check';
import { idNumbered, invocation } from '../../../../test/fixtures/invocations';
import type { RecordedInvocation } from '../invocations/invocation.events';
import { type UsageGrouping, usageGrouping, UsageReport } from './usage-report';
import { shownSums, usageOfOne } from './usage-sums';

const reportOf = (groupBy: UsageGrouping, rows: readonly RecordedInvocation[], timeZone = 'UTC'): UsageReport => {
  const report = new UsageReport(groupBy, 'USD', timeZone);
  for (const row of rows) report.add({ ...row, sums: usageOfOne(row) });
  return report;
};

describe('a usage report', () => {
  it('counts the days of a time zone, in their order', () => {
    const rows = [
      invocation(1, { at: '2026-11-22T04:59:59.999Z', cost: '1' }),
      invocation(2, { at: '2026-11-22T05:00:00.000Z', cost: '20' }),
      invocation(3, { at: '2026-11-21T05:00:00.000Z', cost: '300', isIncludedUsage: true }),
    ];
    expect(reportOf('day', rows, 'America/New_York').items()).toEqual([
      {
        key: '2026-11-21',
        calls: 2,
        inputTokens: 200,
        cachedInputTokens: 80,
        outputTokens: 20,
        cost: '0.000000301',
        includedCost: '0.0000003',
      },
      {
        key: '2026-11-22',
        calls: 1,
        inputTokens: 100,
        cachedInputTokens: 40,
        outputTokens: 10,
        cost: '0.00000002',
        includedCost: '0',
      },
    ]);
  });

  it('has what cost most first, and calls without a key', () => {
    const rows = [
      invocation(1, { cost: '5' }),
      invocation(2, { cost: '7', apiKeyId: idNumbered(8) }),
      invocation(3, { cost: '7', apiKeyId: idNumbered(7) }),
      invocation(4, { cost: '9', currency: 'EUR' }),
    ];
    expect(
      reportOf('apiKey', rows)
        .items()
        .map(({ key, cost }) => [key, cost]),
    ).toEqual([
      [idNumbered(7), '0.000000007'],
      [idNumbered(8), '0.000000007'],
      [null, '0.000000005'],
    ]);
  });

  it('adds up: the items to the totals, the totals to the calls', () => {
    const row = fc.record({
      at: fc
        .date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true })
        .map((date) => date.toISOString()),
      model: fc.constantFrom('a', 'b'),
      userId: fc.integer({ min: 1, max: 3 }).map(idNumbered),
      apiKeyId: fc.option(fc.integer({ min: 1, max: 3 }).map(idNumbered)),
      inputTokens: fc.nat(1_000_000),
      outputTokens: fc.nat(1_000_000),
      cost: fc.bigInt({ min: 0n, max: 10n ** 18n }).map(String),
      isIncludedUsage: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(row),
        fc.constantFrom(...usageGrouping.options),
        fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/St_Johns'),
        (facts, groupBy, timeZone) => {
          const rows = facts.map((fact, number) => invocation(number, fact));
          const report = reportOf(groupBy, rows, timeZone);
          const items = report.items();
          const { calls, inputTokens, cost, includedCost } = shownSums(report.totals());
          const sum = (field: 'calls' | 'inputTokens') => items.reduce((total, item) => total + item[field], 0);
          const amount = (field: 'cost' | 'includedCost') =>
            decimalAmount(items.reduce((total, item) => total + nanoUnits(item[field]), 0n));
          expect([sum('calls'), sum('inputTokens'), amount('cost'), amount('includedCost')]).toEqual([
            calls,
            inputTokens,
            cost,
            includedCost,
          ]);
          expect([rows.length, rows.reduce((total, { cost: nano }) => total + BigInt(nano), 0n)]).toEqual([
            calls,
            nanoUnits(cost),
          ]);
          expect(new Set(items.map(({ key }) => key)).size).toBe(items.length);
        },
      ),
    );
  });
});
