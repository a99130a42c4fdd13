import type { Position } from '@app/kernel';
import type { Projecting } from '@app/projecting';
import type { PageStart, ReadStore } from '@app/read-store';
import { viewComplete } from './complete-view';

const PAGE = 1_000;

type Where = Readonly<Record<string, string>>;
type OrderBy = readonly { readonly field: string; readonly order: 'asc' | 'desc' }[];

/** Reads the keys of all rows of a view that meet a condition, complete up to a position of the log: what a policy must not miss. Throws as `viewComplete`. */
export const completeKeys =
  (projecting: Pick<Projecting, 'gap'>, store: Pick<ReadStore, 'find'>) =>
  async (view: string, where: Where, orderBy: OrderBy, position: Position): Promise<readonly string[]> => {
    await viewComplete(projecting, view, position);
    const keys: string[] = [];
    for (let after: PageStart | undefined; ; ) {
      const rows = await store.find(view, { where, orderBy, limit: PAGE, ...(after === undefined ? {} : { after }) });
      for (const { key } of rows) keys.push(key);
      const last = rows.at(-1);
      if (rows.length < PAGE || last === undefined) return keys;
      after = { values: orderBy.map(({ field }) => last.row[field] ?? null), key: last.key };
    }
  };
