import type { Position } from '@app/kernel';
import type { ReadStore } from '@app/read-store';
import type { LimitScope } from '@app/spending';
import { filteredPages, filterOfScope, usageIn, type WantedInvocations } from '@projections/invocations';
import { nanoOf, type UsageRow } from './usage.projection';
import { cutInto, type Spans } from './usage-parts';

type Store = Pick<ReadStore, 'find'>;

const EVER = new Date(0).toISOString();

/**
 * The cost, in nano-units of a currency, of the model calls of a scope that began at `from` (ISO 8601 UTC; null: ever) or later and
 * were recorded up to the position `upTo`. The view of calls is complete up to there, and so are the views of spans,
 * the longest first.
 */
export const spentIn = (
  store: Store,
  { scope, currency }: { readonly scope: LimitScope; readonly currency: string },
  from: string | null,
  upTo: Position,
  spans: readonly Spans[],
): Promise<bigint> => spentOn(store, { filters: [filterOfScope(scope)], from: from ?? EVER }, currency, upTo, spans);

/** A row that was changed after the position sums calls recorded since: its span is read from shorter ones, and at last call by call, where each says when it was recorded. */
const spentOn = async (
  store: Store,
  wanted: WantedInvocations,
  currency: string,
  upTo: Position,
  [spans, ...shorter]: readonly Spans[],
): Promise<bigint> => {
  if (spans === undefined) return usageIn(store, wanted, currency, upTo);
  const { whole, ends } = cutInto(wanted, spans.ms);
  const sums = new Map<string, bigint>();
  const changed = new Set<string>();
  if (whole !== undefined) {
    for await (const rows of filteredPages<UsageRow>(store, spans.view, whole)) {
      for (const { position, row } of rows) {
        if (position > upTo) changed.add(row.at);
        if (row.currency === currency) sums.set(row.at, (sums.get(row.at) ?? 0n) + nanoOf(row.costUnits, row.costNano));
      }
    }
  }
  let spent = 0n;
  for (const [at, sum] of sums) if (!changed.has(at)) spent += sum;
  const again = [...changed].map((at): WantedInvocations => ({
    ...wanted,
    from: at,
    to: new Date(Date.parse(at) + spans.ms).toISOString(),
  }));
  for (const part of [...ends, ...again]) spent += await spentOn(store, part, currency, upTo, shorter);
  return spent;
};
