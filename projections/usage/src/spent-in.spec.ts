import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RowProjection } from '@app/projecting';
import { openSqliteReadStore, type ReadStore } from '@app/read-store';
import type { LimitScope, RecordedInvocation } from '@app/spending';
import { invocations } from '@projections/invocations';
import * as fc from 'fast-check';
import { idNumbered, invocation, INVOKER } from '../../../test/fixtures/invocations';
import { happened } from '../../../test/fixtures/view';
import { spentIn } from './spent-in';
import { usage, usageDays } from './usage.projection';
import { DAYS, QUARTERS } from './usage-parts';

const EVERYBODY: LimitScope = { type: 'instance', id: null };
const folder = mkdtempSync(join(tmpdir(), 'spent-'));
let store: ReadStore;
let version = 0;

beforeAll(async () => void (store = await openSqliteReadStore({ folder })));
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const positionOf = (record: number): string => String(record).padStart(20, '0');

/** Shows these records in all views, one after the other at the positions 1, 2, and so on, and nothing else. */
const show = async (records: readonly (readonly RecordedInvocation[])[]): Promise<void> => {
  const before = version === 0 ? undefined : version;
  version += 1;
  const to = positionOf(records.length);
  for (const { name, indexes, apply } of [usage, usageDays, invocations] satisfies RowProjection[]) {
    await store.prepare({ name, version, indexes });
    const changes = records.map((calls, index) => ({
      position: positionOf(index + 1),
      operations: apply(happened('usage-p1', index, { type: 'InvocationsRecorded', data: { invocations: calls } })),
    }));
    await store.commit({
      view: name,
      version,
      changes,
      from: null,
      to: { position: to, handled: records.length },
      fence: 0,
    });
    await store.swap(name, before, version);
    if (before !== undefined) await store.drop(name, before);
  }
};

/** How many rows of each view were read meanwhile. */
const readMeanwhile = async (work: () => Promise<unknown>): Promise<Readonly<Record<string, number>>> => {
  const read: Record<string, number> = {};
  const find = jest.spyOn(store, 'find');
  await work();
  const pages = await Promise.all(find.mock.results.map(async ({ value }) => (await value) as readonly unknown[]));
  for (const [index, [view]] of find.mock.calls.entries()) read[view] = (read[view] ?? 0) + (pages[index]?.length ?? 0);
  find.mockRestore();
  return read;
};

const START = Date.UTC(2026, 8, 1);
/** One in twenty minutes, for 42 days. */
const CALLS = Array.from({ length: 3_000 }, (_, number) =>
  invocation(number, { at: new Date(START + number * 20 * 60_000).toISOString(), cost: '7' }),
);

describe('what was spent', () => {
  it('is read from days, whatever the number of calls', async () => {
    await show([CALLS]);
    expect(
      await readMeanwhile(async () =>
        expect(await spentIn(store, { scope: EVERYBODY, currency: 'USD' }, null, positionOf(1), [DAYS, QUARTERS])).toBe(
          21_000n,
        ),
      ),
    ).toEqual({ 'usage-days': 42 });
  });

  it('is read call by call only where a period begins within a quarter of an hour, and where something was recorded since', async () => {
    await show([CALLS, [invocation(9_000, { at: CALLS.at(-1)?.at ?? '', cost: '1000' })]]);
    const from = new Date(START + 35 * 60_000).toISOString();
    const read = await readMeanwhile(async () =>
      expect(await spentIn(store, { scope: EVERYBODY, currency: 'USD' }, from, positionOf(1), [DAYS, QUARTERS])).toBe(
        2_998n * 7n,
      ),
    );
    // A page at either end.
    expect(Math.max(...Object.values(read))).toBeLessThanOrEqual(500);
  });

  it('is what was recorded up to a position, wherever a period begins and whatever was recorded since', async () => {
    const minute = fc.oneof(
      fc.nat(120),
      fc.integer({ min: 0, max: 5 * 24 }).map((hours) => hours * 60),
    );
    const time = fc
      .tuple(minute, fc.constantFrom(0, 1, 59_999))
      .map(([minutes, ms]) => new Date(Date.UTC(2026, 10, 21, 12) + minutes * 60_000 + ms).toISOString());
    const user = fc.integer({ min: 1, max: 2 }).map(idNumbered);
    const call = fc.record({
      at: time,
      userId: user,
      model: fc.constantFrom('m1', 'm2'),
      cost: fc.bigInt({ min: 0n, max: 10n ** 16n }).map(String),
      currency: fc.constantFrom('USD', 'USD', 'EUR'),
    });
    const scope = fc.oneof(fc.constant(EVERYBODY), fc.constant<LimitScope>({ type: 'user', id: INVOKER }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(call, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 6 }),
        fc.option(time),
        fc.nat(6),
        scope,
        fc.constantFrom([QUARTERS], [DAYS, QUARTERS], []),
        async (facts, from, upTo, wanted, spans) => {
          const records = facts.map((calls, record) =>
            calls.map((fact, number) => invocation(100 * record + number, fact)),
          );
          await show(records);
          const own = records
            .slice(0, upTo)
            .flat()
            .filter(({ currency }) => currency === 'USD')
            .filter(({ at, userId }) => at >= (from ?? '') && (wanted.type === 'instance' || userId === wanted.id));
          expect(await spentIn(store, { scope: wanted, currency: 'USD' }, from, positionOf(upTo), spans)).toBe(
            own.reduce((sum, { cost }) => sum + BigInt(cost), 0n),
          );
        },
      ),
      { numRuns: 60 },
    );
  });
});
