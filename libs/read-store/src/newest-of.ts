import type { PageRequest, RowPage } from './find-page';
import type { FindOptions, ReadStore, Row, StoredRow } from './read-store';

type Dated = Row & { readonly createdAt: string };

/**
 * A page, newest first and ties by key, of several lists at once: rows found by each of the conditions, of which none meets
 * two, and rows at hand. Each condition must be served by an index that goes on with `createdAt` descending.
 */
export const newestOf = async <R extends Dated>(
  store: Pick<ReadStore, 'find'>,
  view: string,
  conditions: readonly NonNullable<FindOptions['where']>[],
  { limit, after }: PageRequest,
  atHand: readonly StoredRow<R>[] = [],
): Promise<RowPage<R>> => {
  const options = { orderBy: [{ field: 'createdAt', order: 'desc' }], ...(after === undefined ? {} : { after }), limit: limit + 1 } as const;
  const found = await Promise.all(conditions.map((where) => store.find(view, { where, ...options }) as Promise<readonly StoredRow<R>[]>));
  const rest = after === undefined ? atHand : atHand.filter((row) => newestFirst(row, { key: after.key, row: { createdAt: String(after.values[0]) } }) > 0);
  const rows = merged([...found, rest.toSorted(newestFirst)], limit + 1);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, next: rows.length > limit && last !== undefined ? { values: [last.row.createdAt], key: last.key } : null };
};

/** The first `count` rows of lists that are each in order. */
const merged = <R extends Dated>(lists: readonly (readonly StoredRow<R>[])[], count: number): readonly StoredRow<R>[] => {
  const open = lists.filter((list) => list.length > 0);
  if (open.length <= 1) return open[0] ?? [];
  const next = open.map(() => 0);
  const rows: StoredRow<R>[] = [];
  while (rows.length < count) {
    let newest: StoredRow<R> | undefined;
    let from = 0;
    for (let index = 0; index < open.length; index += 1) {
      const row = open[index]?.[next[index] as number];
      if (row === undefined || (newest !== undefined && newestFirst(row, newest) > 0)) continue;
      newest = row;
      from = index;
    }
    if (newest === undefined) return rows;
    rows.push(newest);
    next[from] = (next[from] as number) + 1;
  }
  return rows;
};

type Placed = { readonly key: string; readonly row: { readonly createdAt: string } };

const newestFirst = (a: Placed, b: Placed): number => descending(a.row.createdAt, b.row.createdAt) || descending(a.key, b.key);

const descending = (a: string, b: string): number => (a < b ? 1 : a > b ? -1 : 0);
