import type { Position } from '@app/kernel';
import type { ReadStore, StoredRow } from '@app/read-store';
import type { LimitScope } from '@app/spending';
import { type InvocationFilter, invocationPages } from './invocation-pages';
import { type InvocationRow, invocations } from './invocations.projection';

const FIELDS = { space: 'spaceId', agent: 'agentId', user: 'userId', apiKey: 'apiKeyId' } as const;

/** The filter that leaves the calls of a scope; without an id, of every one of its kind. */
export const filterOfScope = ({ type, id }: { readonly type: LimitScope['type']; readonly id?: string | null | undefined }): InvocationFilter => (type === 'instance' ? {} : { [FIELDS[type]]: id ?? undefined });

/**
 * What the model calls of a scope cost that began at `from` (ISO 8601 UTC; null: ever) or later and were recorded up to the
 * position `upTo` (all, where there is none), in nano-units. Reads them newest first, a page at a time.
 */
export const usageIn = async (store: Pick<ReadStore, 'find'>, scope: LimitScope, from: string | null, upTo?: Position): Promise<bigint> => {
  let spent = 0n;
  for await (const rows of invocationPages(store, { filters: [filterOfScope(scope)], from: from ?? '' })) {
    for (const { position, row } of rows) if (upTo === undefined || position <= upTo) spent += BigInt(row.cost);
  }
  return spent;
};

/** What a model call cost, in nano-units, and where it was recorded; undefined for one that the view does not hold. */
export const recordedCost = async (store: Pick<ReadStore, 'get'>, id: string): Promise<{ readonly cost: bigint; readonly position: Position } | undefined> => {
  const found = (await store.get(invocations.name, id)) as StoredRow<InvocationRow> | undefined;
  return found && { cost: BigInt(found.row.cost), position: found.position };
};
