import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteReadStore, type ReadStore, type Row } from '@app/read-store';
import type { LimitScope } from '@app/spending';
import { idNumbered, invocation, INVOKER } from '../../../test/fixtures/invocations';
import { happened, rowsAfter } from '../../../test/fixtures/view';
import { filterOfScope, recordedCost, invocations, usageIn } from '.';

const OTHER = idNumbered(2);
const KEY = idNumbered(3);
const at = (minute: number): string => new Date(Date.UTC(2026, 10, 21, 12, minute)).toISOString();

const folder = mkdtempSync(join(tmpdir(), 'invocations-'));
let store: ReadStore;

beforeAll(async () => {
  store = await openSqliteReadStore({ folder });
  const { name, version, indexes } = invocations;
  await store.prepare({ name, version, indexes });
  await store.swap(name, undefined, version);
});

afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

let position: string | null = null;
const record = async (...rows: readonly Row[]): Promise<string> => {
  const to: string = String(Number(position ?? 0) + 1).padStart(20, '0');
  const operations = rows.map((row) => ({ op: 'put', key: String(row['id']), row }) as const);
  await store.commit({
    view: invocations.name,
    version: invocations.version,
    changes: [{ position: to, operations }],
    from: position,
    to: { position: to, handled: 0 },
    fence: 0,
  });
  return (position = to);
};

const spent = (scope: LimitScope, from: string | null, upTo?: string): Promise<bigint> =>
  usageIn(store, { filters: [filterOfScope(scope)], from: from ?? '' }, 'USD', upTo);

describe('model calls', () => {
  it('have a row each', () => {
    const [a, b] = [invocation(10), invocation(11, { cost: '7' })];
    expect(
      rowsAfter(invocations, happened('usage-p1', 0, { type: 'InvocationsRecorded', data: { invocations: [a, b] } })),
    ).toEqual({ [a.id]: a, [b.id]: b });
  });

  it('are summed by scope, from a time on, up to a position', async () => {
    const first = await record(
      invocation(10, { at: at(0), cost: '1' }),
      invocation(11, { at: at(1), cost: '10', apiKeyId: KEY }),
      invocation(12, { at: at(1), cost: '100', userId: OTHER }),
    );
    await record(
      invocation(13, { at: at(0), cost: '1000', spaceId: KEY }),
      invocation(14, { at: at(2), cost: '10000', agentId: KEY, userId: OTHER }),
    );
    const sums = await Promise.all([
      spent({ type: 'instance', id: null }, null),
      spent({ type: 'instance', id: null }, at(1)),
      spent({ type: 'instance', id: null }, null, first),
      spent({ type: 'user', id: INVOKER }, null),
      spent({ type: 'user', id: OTHER }, at(2)),
      spent({ type: 'apiKey', id: KEY }, null),
      spent({ type: 'space', id: KEY }, at(0)),
      spent({ type: 'agent', id: KEY }, at(3)),
    ]);
    expect(sums).toEqual([11111n, 10110n, 111n, 1011n, 10000n, 10n, 1000n, 0n]);
    expect(await Promise.all([recordedCost(store, idNumbered(13)), recordedCost(store, idNumbered(99))])).toEqual([
      { cost: 1000n, currency: 'USD', position: expect.any(String) as string },
      undefined,
    ]);
  });

  it('are summed over more than one page, also where many began at the same time', async () => {
    const user = idNumbered(4);
    await record(
      ...Array.from({ length: 2_500 }, (_, index) =>
        invocation(1_000 + index, { userId: user, at: at(Math.floor(index / 1_200)), cost: String(index) }),
      ),
    );
    expect(await spent({ type: 'user', id: user }, null)).toBe(BigInt((2_500 * 2_499) / 2));
  });
});
