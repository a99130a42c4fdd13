import { fitting, PAGE_SIZE, type PageRequest, type RowPage, sizeOf } from './find-page';
import type { FindOptions, ReadStore, Row, StoredRow } from './read-store';

/** Rows that lists show newest first. */
export type Dated = Row & { readonly createdAt: string };

/** Rows in order, and whether more may stand behind them than are here. */
interface List<R extends Dated> {
  readonly rows: readonly StoredRow<R>[];
  readonly goesOn: boolean;
}

/**
 * A page of at most `PAGE_SIZE`, newest first and ties by key, of several lists at once: rows found by each of the conditions,
 * of which none meets two, and rows at hand. Each condition must be served by an index that goes on with `createdAt` descending.
 */
export const newestOf = async <R extends Dated>(
  store: Pick<ReadStore, 'find'>,
  view: string,
  conditions: readonly NonNullable<FindOptions['where']>[],
  { limit, after }: PageRequest,
  atHand: readonly StoredRow<R>[] = [],
): Promise<RowPage<R>> => {
  const options = {
    orderBy: [{ field: 'createdAt', order: 'desc' }],
    ...(after === undefined ? {} : { after }),
    limit: limit + 1,
    most: PAGE_SIZE,
  } as const;
  const found = await Promise.all(
    conditions.map((where) => store.find(view, { where, ...options }) as Promise<readonly StoredRow<R>[]>),
  );
  const rest =
    after === undefined
      ? atHand
      : atHand.filter((row) => newestFirst(row, { key: after.key, row: { createdAt: String(after.values[0]) } }) > 0);
  const lists = found.map((rows) => ({ rows, goesOn: rows.length > limit || sizeOf(rows) >= PAGE_SIZE }));
  const page = merged([...lists, { rows: rest.toSorted(newestFirst), goesOn: false }], limit);
  const last = page.rows.at(-1);
  return {
    rows: page.rows,
    next: page.goesOn && last !== undefined ? { values: [last.row.createdAt], key: last.key } : null,
  };
};

/**
 * The first rows of lists that are each in order, up to the limit and `PAGE_SIZE`. A list that goes on behind its last row here has
 * more of them than the limit, or fills a page alone: with a row of another one, the page is full before that list is passed.
 */
const merged = <R extends Dated>(lists: readonly List<R>[], limit: number): List<R> => {
  const open = lists.filter((list) => list.rows.length > 0);
  const [only] = open;
  // Of one Space, as in most requests: nothing is to be merged.
  if (only !== undefined && open.length === 1) {
    const count = fitting(only.rows, limit, (row) => row.size);
    return count === only.rows.length ? only : { rows: only.rows.slice(0, count), goesOn: true };
  }
  const next = open.map(() => 0);
  const rows: StoredRow<R>[] = [];
  let size = 0;
  for (;;) {
    let newest: StoredRow<R> | undefined;
    let from = 0;
    for (let index = 0; index < open.length; index += 1) {
      const row = open[index]?.rows[next[index] as number];
      if (row === undefined || (newest !== undefined && newestFirst(row, newest) > 0)) continue;
      newest = row;
      from = index;
    }
    if (newest === undefined) return { rows, goesOn: false };
    size += newest.size;
    if (rows.length === limit || (rows.length > 0 && size > PAGE_SIZE)) return { rows, goesOn: true };
    rows.push(newest);
    next[from] = (next[from] as number) + 1;
  }
};

type Placed = { readonly key: string; readonly row: { readonly createdAt: string } };

/** The order of such lists: descending, ties by descending key. */
export const newestFirst = (a: Placed, b: Placed): number =>
  descending(a.row.createdAt, b.row.createdAt) || descending(a.key, b.key);

const descending = (a: string, b: string): number => (a < b ? 1 : a > b ? -1 : 0);
