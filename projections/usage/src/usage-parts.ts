import type { ReadStore } from '@app/read-store';
import { spanOf, usageOfOne, type UsagePart } from '@app/spending';
import { filteredPages, invocationPages, type WantedInvocations } from '@projections/invocations';
import { DAY_MS, nanoOf, QUARTER_MS, usage, usageDays, type UsageRow } from './usage.projection';

/** A view of sums and the length of its spans. */
export interface Spans {
  readonly view: string;
  readonly ms: number;
}

export const QUARTERS: Spans = { view: usage.name, ms: QUARTER_MS };
export const DAYS: Spans = { view: usageDays.name, ms: DAY_MS };

type Store = Pick<ReadStore, 'find'>;

/** What the calls that are wanted come to, a page at a time: from the longest spans that the period holds whole; where it cuts one, from shorter ones, and at last call by call. */
export async function* usageParts(store: Store, wanted: WantedInvocations, [spans, ...shorter]: readonly Spans[]): AsyncGenerator<readonly UsagePart[]> {
  if (spans === undefined) return yield* callByCall(store, wanted);
  const { filters, from, to } = wanted;
  const first = spanOf(new Date(Date.parse(from) + spans.ms - 1).toISOString(), spans.ms);
  const last = to === undefined ? undefined : spanOf(to, spans.ms);
  if (last !== undefined && last <= first) return yield* usageParts(store, wanted, shorter);
  if (from < first) yield* usageParts(store, { filters, from, to: first }, shorter);
  for await (const rows of filteredPages<UsageRow>(store, spans.view, { filters, from: first, to: last })) yield rows.map(({ row }) => partOf(row));
  if (last !== undefined && to !== undefined && last < to) yield* usageParts(store, { filters, from: last, to }, shorter);
}

async function* callByCall(store: Store, wanted: WantedInvocations): AsyncGenerator<readonly UsagePart[]> {
  for await (const rows of invocationPages(store, wanted)) yield rows.map(({ row }) => ({ ...row, sums: usageOfOne(row) }));
}

const partOf = ({ calls, inputTokens, cachedInputTokens, outputTokens, costUnits, costNano, includedUnits, includedNano, ...row }: UsageRow): UsagePart => ({
  ...row,
  sums: { calls, inputTokens, cachedInputTokens, outputTokens, cost: nanoOf(costUnits, costNano), includedCost: nanoOf(includedUnits, includedNano) },
});
