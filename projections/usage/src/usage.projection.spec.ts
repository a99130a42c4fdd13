import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RowProjection } from '@app/projecting';
import { openSqliteReadStore, type ReadStore } from '@app/read-store';
import { addUsage, noUsage, type RecordedInvocation, shownSums, usageOfOne } from '@app/spending';
import { invocations, type WantedInvocations } from '@projections/invocations';
import * as fc from 'fast-check';
import { idNumbered, invocation, INVOKER } from '../../../test/fixtures/invocations';
import { happened } from '../../../test/fixtures/view';
import { nanoOf, usage, usageDays, usageRow } from './usage.projection';
import { DAYS, QUARTERS, type Spans, usageParts } from './usage-parts';

const folder = mkdtempSync(join(tmpdir(), 'usage-'));
let store: ReadStore;
let version = 0;

beforeAll(async () => void (store = await openSqliteReadStore({ folder })));
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Shows both views of these calls, and nothing else. */
const show = async (recorded: readonly RecordedInvocation[]): Promise<void> => {
  const before = version === 0 ? undefined : version;
  version += 1;
  for (const { name, indexes, apply } of [usage, usageDays, invocations] satisfies RowProjection[]) {
    await store.prepare({ name, version, indexes });
    const operations = apply(happened('usage-p1', 0, { type: 'InvocationsRecorded', data: { invocations: recorded } }));
    await store.commit({
      view: name,
      version,
      changes: [{ position: '1', operations }],
      from: null,
      to: { position: '1', handled: 1 },
      fence: 0,
    });
    await store.swap(name, before, version);
    if (before !== undefined) await store.drop(name, before);
  }
};

const sumOf = async (wanted: WantedInvocations, spans: readonly Spans[]) => {
  const sums = noUsage();
  for await (const parts of usageParts(store, wanted, spans)) for (const part of parts) addUsage(sums, part.sums);
  return shownSums(sums);
};

describe('usage', () => {
  it('sums calls of a quarter of an hour that have all else in common', async () => {
    await show([
      invocation(1, { at: '2026-11-21T12:00:00.000Z', cost: '1999999999' }),
      invocation(2, { at: '2026-11-21T12:14:59.999Z', cost: '3', isIncludedUsage: true }),
      invocation(3, { at: '2026-11-21T12:15:00.000Z' }),
      invocation(4, { at: '2026-11-21T12:01:00.000Z', model: 'm2' }),
    ]);
    const rows = (await store.scan('usage', version, null, 10)).map(({ row }) => usageRow.strict().parse(row));
    expect(rows).toHaveLength(3);
    expect(rows).toContainEqual({
      at: '2026-11-21T12:00:00.000Z',
      userId: INVOKER,
      apiKeyId: null,
      agentId: null,
      spaceId: null,
      model: 'm1',
      currency: 'USD',
      calls: 2,
      inputTokens: 200,
      cachedInputTokens: 80,
      outputTokens: 20,
      costUnits: 1,
      costNano: 1_000_000_002,
      includedUnits: 0,
      includedNano: 3,
    });
  });

  it.each([
    ['at', '2026-11-21T12:15:00.000Z'],
    ['userId', idNumbered(7)],
    ['apiKeyId', idNumbered(7)],
    ['agentId', idNumbered(7)],
    ['spaceId', idNumbered(7)],
    ['model', 'm2'],
    ['currency', 'EUR'],
  ])('keeps apart what differs in %s alone, in whatever order it comes', async (field, other) => {
    const at = '2026-11-21T12:14:59.999Z';
    await show(
      [1, 2, 3, 4, 5].map((number) => invocation(number, { at, ...(number % 2 === 0 ? { [field]: other } : {}) })),
    );
    const rows = (await store.scan('usage', version, null, 10)).map(({ row }) => row);
    expect(rows.map((row) => [row[field] === other, row['calls']])).toEqual(
      expect.arrayContaining([
        [false, 3],
        [true, 2],
      ]),
    );
    expect(rows).toHaveLength(2);
  });

  it('is whole for costs of every length', async () => {
    const costs = ['0', '7', '999999999', '1000000000', '1000000001', '12345678901234567890'];
    await show(costs.map((cost, number) => invocation(number, { cost, isIncludedUsage: true })));
    const [row] = (await store.scan('usage-days', version, null, 10)).map(({ row }) => usageRow.parse(row));
    const sum = costs.reduce((total, cost) => total + BigInt(cost), 0n);
    expect([
      nanoOf(row?.costUnits ?? 0, row?.costNano ?? 0),
      nanoOf(row?.includedUnits ?? 0, row?.includedNano ?? 0),
    ]).toEqual([sum, sum]);
  });

  it('comes to what its calls come to, wherever a period is cut', async () => {
    const minute = fc.oneof(
      fc.nat(120),
      fc.integer({ min: 0, max: 5 * 24 }).map((hours) => hours * 60),
    );
    const time = fc
      .tuple(minute, fc.constantFrom(0, 1, 59_999))
      .map(([minutes, ms]) => new Date(Date.UTC(2026, 10, 21, 12) + minutes * 60_000 + ms).toISOString());
    const call = fc.record({
      at: time,
      userId: fc.integer({ min: 1, max: 2 }).map(idNumbered),
      agentId: fc.option(fc.integer({ min: 3, max: 4 }).map(idNumbered)),
      cost: fc.bigInt({ min: 0n, max: 10n ** 16n }).map(String),
      isIncludedUsage: fc.boolean(),
    });
    const filter = fc.record(
      { userId: fc.integer({ min: 1, max: 2 }).map(idNumbered), agentId: fc.constant(idNumbered(3)) },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { minLength: 1, maxLength: 30 }),
        time,
        fc.option(time, { nil: undefined }),
        filter,
        fc.constantFrom([QUARTERS], [DAYS, QUARTERS], []),
        async (facts, from, to, wanted, spans) => {
          const calls = facts.map((fact, number) => invocation(number, fact));
          await show(calls);
          const expected = noUsage();
          for (const one of calls)
            if (
              one.at >= from &&
              (to === undefined || one.at < to) &&
              Object.entries(wanted).every(([field, value]) => one[field as 'userId'] === value)
            )
              addUsage(expected, usageOfOne(one));
          expect(await sumOf({ filters: [wanted], from, to }, spans)).toEqual(shownSums(expected));
        },
      ),
      { numRuns: 60 },
    );
  });
});
