import { type Position, Unavailable } from '@app/kernel';
import type { Projecting } from '@app/projecting';
import type { PageStart, ReadStore } from '@app/read-store';

/** How long a policy waits for a view before it fails, and is tried again. */
const VIEW_MS = 30_000;
const PAGE = 1_000;

type Where = Readonly<Record<string, string>>;
type OrderBy = readonly { readonly field: string; readonly order: 'asc' | 'desc' }[];

/** Reads the keys of all rows of a view that meet a condition, complete up to a position of the log: what a policy must not miss. */
export const completeKeys =
  (projecting: Pick<Projecting, 'waitFor'>, store: Pick<ReadStore, 'find'>) =>
  async (view: string, where: Where, orderBy: OrderBy, position: Position): Promise<readonly string[]> => {
    if (!(await projecting.waitFor(view, position, VIEW_MS))) throw new Unavailable(`the view ${view}`, 'it is behind the log');
    const keys: string[] = [];
    for (let after: PageStart | undefined; ; ) {
      const rows = await store.find(view, { where, orderBy, limit: PAGE, ...(after === undefined ? {} : { after }) });
      for (const { key } of rows) keys.push(key);
      const last = rows.at(-1);
      if (rows.length < PAGE || last === undefined) return keys;
      after = { values: orderBy.map(({ field }) => last.row[field] ?? null), key: last.key };
    }
  };
