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
export async function* usageParts(
  store: Store,
  wanted: WantedInvocations,
  [spans, ...shorter]: readonly Spans[],
): AsyncGenerator<readonly UsagePart[]> {
  if (spans === undefined) return yield* callByCall(store, wanted);
  const { whole, ends } = cutInto(wanted, spans.ms);
  if (whole !== undefined)
    for await (const rows of filteredPages<UsageRow>(store, spans.view, whole))
      yield rows.map(({ row }) => partOf(row));
  for (const end of ends) yield* usageParts(store, end, shorter);
}

/** The spans of so many milliseconds that a period holds whole, and what is left of it at its ends: all of it where it holds none. */
export const cutInto = (
  wanted: WantedInvocations,
  ms: number,
): { readonly whole?: WantedInvocations; readonly ends: readonly WantedInvocations[] } => {
  const { from, to } = wanted;
  const first = spanOf(new Date(Date.parse(from) + ms - 1).toISOString(), ms);
  const last = to === undefined ? undefined : spanOf(to, ms);
  if (last !== undefined && last <= first) return { ends: [wanted] };
  const before = from < first ? [{ ...wanted, to: first }] : [];
  const after = last !== undefined && to !== undefined && last < to ? [{ ...wanted, from: last }] : [];
  return { whole: { ...wanted, from: first, to: last }, ends: [...before, ...after] };
};

async function* callByCall(store: Store, wanted: WantedInvocations): AsyncGenerator<readonly UsagePart[]> {
  for await (const rows of invocationPages(store, wanted))
    yield rows.map(({ row }) => ({ ...row, sums: usageOfOne(row) }));
}

const partOf = ({
  calls,
  inputTokens,
  cachedInputTokens,
  outputTokens,
  costUnits,
  costNano,
  includedUnits,
  includedNano,
  ...row
}: UsageRow): UsagePart => ({
  ...row,
  sums: {
    calls,
    inputTokens,
    cachedInputTokens,
    outputTokens,
    cost: nanoOf(costUnits, costNano),
    includedCost: nanoOf(includedUnits, includedNano),
  },
});
