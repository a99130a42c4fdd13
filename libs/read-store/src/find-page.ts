import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FindOptions, ReadStore, Row, StoredRow } from './read-store';

/** Where a page begins: behind this row. */
export type PageStart = NonNullable<FindOptions['after']>;

/** Which page of a list is asked for. */
export interface PageRequest {
  readonly limit: number;
  readonly after?: PageStart;
}

/** A page of rows and where the next one begins; null when this is the last. */
export interface RowPage<R extends Row = Row> {
  readonly rows: readonly StoredRow<R>[];
  readonly next: PageStart | null;
}

/** Characters of rows in a page: one with large rows is short, and at least one row. */
export const PAGE_SIZE = 2 * 1024 * 1024;

/** Reads a page of a list, of at most `PAGE_SIZE`. `orderBy` must not be empty; ties are ordered by key. */
export const findPage = async <R extends Row = Row>(
  store: Pick<ReadStore, 'find'>,
  view: string,
  options: Required<Pick<FindOptions, 'where' | 'orderBy'>>,
  page: PageRequest,
): Promise<RowPage<R>> => {
  const found = (await store.find(view, {
    ...options,
    ...(page.after === undefined ? {} : { after: page.after }),
    limit: page.limit + 1,
    most: PAGE_SIZE,
  })) as readonly StoredRow<R>[];
  const isFull = found.length > page.limit || sizeOf(found) >= PAGE_SIZE;
  if (!isFull) return { rows: found, next: null };
  // The one that made it full begins the next page.
  const rows = found.slice(0, Math.max(1, found.length - 1));
  const last = rows.at(-1) as StoredRow<R>;
  return { rows, next: { values: options.orderBy.map(({ field }) => last.row[field] ?? null), key: last.key } };
};

/** Characters of rows together. */
export const sizeOf = (rows: readonly StoredRow[]): number => rows.reduce((sum, { size }) => sum + size, 0);

/** How many of these begin a page, by their sizes in characters: at most `limit`, together of at most `PAGE_SIZE`, and at least one. */
export const fitting = <T>(items: readonly T[], limit: number, sizeOfItem: (item: T) => number): number => {
  const most = Math.min(items.length, limit);
  let together = 0;
  for (let count = 0; count < most; count += 1) {
    together += sizeOfItem(items[count] as T);
    if (count > 0 && together > PAGE_SIZE) return count;
  }
  return most;
};

const LIMIT = 500;

/** All rows that are found, in pages; others run in between. */
export async function* pagesOf<R extends Row = Row>(
  store: Pick<ReadStore, 'find'>,
  view: string,
  options: Required<Pick<FindOptions, 'where' | 'orderBy'>>,
): AsyncGenerator<readonly StoredRow<R>[]> {
  for (let after: PageStart | undefined; ; await nextTurn()) {
    const { rows, next }: RowPage<R> = await findPage<R>(store, view, options, {
      limit: LIMIT,
      ...(after === undefined ? {} : { after }),
    });
    yield rows;
    if (next === null) return;
    after = next;
  }
}
