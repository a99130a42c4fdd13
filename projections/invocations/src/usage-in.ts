import type { Position } from '@app/kernel';
import type { ReadStore, StoredRow } from '@app/read-store';
import type { LimitScope } from '@app/spending';
import { type InvocationFilter, invocationPages, type WantedInvocations } from './invocation-pages';
import { type InvocationRow, invocations } from './invocations.projection';

const FIELDS = { space: 'spaceId', agent: 'agentId', user: 'userId', apiKey: 'apiKeyId' } as const;

/** The filter that leaves the calls of a scope; without an id, of every one of its kind. */
export const filterOfScope = ({
  type,
  id,
}: {
  readonly type: LimitScope['type'];
  readonly id?: string | null | undefined;
}): InvocationFilter => (type === 'instance' ? {} : { [FIELDS[type]]: id ?? undefined });

/**
 * Sums the cost, in nano-units of a currency, of the selected calls recorded up to the position `upTo` (all if undefined). Reads
 * each of them, newest first, a page at a time.
 */
export const usageIn = async (
  store: Pick<ReadStore, 'find'>,
  wanted: WantedInvocations,
  currency: string,
  upTo?: Position,
): Promise<bigint> => {
  let spent = 0n;
  for await (const rows of invocationPages(store, wanted)) {
    for (const { position, row } of rows)
      if (row.currency === currency && (upTo === undefined || position <= upTo)) spent += BigInt(row.cost);
  }
  return spent;
};

/** What a model call cost, in nano-units of its currency, and where it was recorded; undefined for one that the view does not hold. */
export const recordedCost = async (
  store: Pick<ReadStore, 'get'>,
  id: string,
): Promise<{ readonly cost: bigint; readonly currency: string; readonly position: Position } | undefined> => {
  const found = (await store.get(invocations.name, id)) as StoredRow<InvocationRow> | undefined;
  return found && { cost: BigInt(found.row.cost), currency: found.row.currency, position: found.position };
};
