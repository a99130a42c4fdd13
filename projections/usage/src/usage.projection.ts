import type { EventOf, RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import type { IndexSpec, Operation } from '@app/read-store';
import { type invocationsRecorded, type RecordedInvocation, spanOf } from '@app/spending';
import { INVOCATION_FILTERS } from '@projections/invocations';
import { z } from 'zod';

const amount = z.number().int();

/** What calls of a span of time come to that have all else in common. An amount is the sum of whole units and of nano-units, which may be more than one unit. */
export const usageRow = z.object({
  /** When the span begins. */
  at: z.string(),
  userId: z.string(),
  apiKeyId: z.string().nullable(),
  agentId: z.string().nullable(),
  spaceId: z.string().nullable(),
  model: z.string(),
  currency: z.string(),
  calls: amount,
  inputTokens: amount,
  cachedInputTokens: amount,
  outputTokens: amount,
  costUnits: amount,
  costNano: amount,
  includedUnits: amount,
  includedNano: amount,
});
export type UsageRow = z.output<typeof usageRow>;

/** Digits of a cost that are less than a unit. */
const NANO_DIGITS = 9;
const UNIT = 10n ** BigInt(NANO_DIGITS);
const NOTHING = {
  calls: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  costUnits: 0,
  costNano: 0,
  includedUnits: 0,
  includedNano: 0,
};
type Sums = { -readonly [Field in keyof typeof NOTHING]: number };

export const QUARTER_MS = 15 * 60_000;
export const DAY_MS = 96 * QUARTER_MS;

const by = (field: string): IndexSpec => ({ name: `by-${field}`, fields: [{ field }, { field: 'at', order: 'desc' }] });

/** Model calls, summed as they are recorded, by spans of so many milliseconds. */
const summedBy = (name: string, span: number): RowProjection => ({
  kind: 'rows',
  name,
  version: 1,
  types: ['InvocationsRecorded'],
  row: usageRow,
  indexes: [{ name: 'newest', fields: [{ field: 'at', order: 'desc' }] }, ...INVOCATION_FILTERS.map(by)],
  apply: (recorded) => summed((recorded as RecordedEvent<EventOf<typeof invocationsRecorded>>).data.invocations, span),
});

/** By the quarter of an hour: what reports read, whatever their time zone. */
export const usage = summedBy('usage', QUARTER_MS);

/** By the day of UTC: what reports over a long time read where no other day is asked for. */
export const usageDays = summedBy('usage-days', DAY_MS);

type Sum = Extract<Operation, { op: 'add' }> & { readonly row: UsageRow; readonly by: Sums };

/** One operation a row. Most calls of an event share a row, so each is first compared with the row of the call before. */
const summed = (invocations: readonly RecordedInvocation[], span: number): readonly Operation[] => {
  const rows = new Map<string, Sum>();
  const spans = new Map<string, string>();
  let row: Sum | undefined;
  for (const invocation of invocations) {
    const minute = invocation.at.slice(0, MINUTE);
    let at = spans.get(minute);
    if (at === undefined) spans.set(minute, (at = spanOf(invocation.at, span)));
    if (row === undefined || !belongs(invocation, at, row.row)) row = rowOf(invocation, at, rows);
    count(row.by, invocation);
  }
  return [...rows.values()];
};

/** Characters of a time of UTC down to its minute; every span is some minutes. */
const MINUTE = 16;

const belongs = (
  { userId, apiKeyId, agentId, spaceId, model, currency }: RecordedInvocation,
  at: string,
  row: UsageRow,
): boolean =>
  at === row.at &&
  userId === row.userId &&
  apiKeyId === row.apiKeyId &&
  agentId === row.agentId &&
  spaceId === row.spaceId &&
  model === row.model &&
  currency === row.currency;

const rowOf = (
  { userId, apiKeyId, agentId, spaceId, model, currency }: RecordedInvocation,
  at: string,
  rows: Map<string, Sum>,
): Sum => {
  const common = { at, userId, apiKeyId, agentId, spaceId, model, currency };
  const key = JSON.stringify(Object.values(common));
  const row = rows.get(key) ?? { op: 'add', key, row: { ...common, ...NOTHING }, by: { ...NOTHING } };
  rows.set(key, row);
  return row;
};

const count = (
  sums: Sums,
  { inputTokens, cacheReadTokens, outputTokens, cost, isIncludedUsage }: RecordedInvocation,
): void => {
  const [costUnits, costNano] = [Number(cost.slice(0, -NANO_DIGITS)), Number(cost.slice(-NANO_DIGITS))];
  sums.calls += 1;
  sums.inputTokens += inputTokens;
  sums.cachedInputTokens += cacheReadTokens;
  sums.outputTokens += outputTokens;
  sums.costUnits += costUnits;
  sums.costNano += costNano;
  if (!isIncludedUsage) return;
  sums.includedUnits += costUnits;
  sums.includedNano += costNano;
};

/** The amount of a row in nano-units. */
export const nanoOf = (units: number, nano: number): bigint => BigInt(units) * UNIT + BigInt(nano);
