import type { Position } from '@app/kernel';
import type { Projecting } from '@app/projecting';
import { pagesOf, type ReadStore } from '@app/read-store';
import { viewComplete } from './complete-view';

type Where = Readonly<Record<string, string>>;
type OrderBy = readonly { readonly field: string; readonly order: 'asc' | 'desc' }[];

/** Reads the keys of all rows of a view that meet a condition, complete up to a position of the log: what a policy must not miss. Throws as `viewComplete`. */
export const completeKeys =
  (projecting: Pick<Projecting, 'gap'>, store: Pick<ReadStore, 'find'>) =>
  async (view: string, where: Where, orderBy: OrderBy, position: Position): Promise<readonly string[]> => {
    await viewComplete(projecting, view, position);
    const keys: string[] = [];
    for await (const rows of pagesOf(store, view, { where, orderBy })) for (const { key } of rows) keys.push(key);
    return keys;
  };
