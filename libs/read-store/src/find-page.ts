import type { FindOptions, ReadStore, Row, StoredRow } from './read-store';

/** Where a page begins: behind this row. */
export type PageStart = NonNullable<FindOptions['after']>;

export interface PageRequest {
  readonly limit: number;
  readonly after?: PageStart;
}

/** A page of rows and where the next one begins; null when this is the last. */
export interface RowPage<R extends Row = Row> {
  readonly rows: readonly StoredRow<R>[];
  readonly next: PageStart | null;
}

/** Reads a page of a list. `orderBy` must not be empty; ties are ordered by key. */
export const findPage = async <R extends Row = Row>(
  store: Pick<ReadStore, 'find'>,
  view: string,
  options: Required<Pick<FindOptions, 'where' | 'orderBy'>>,
  page: PageRequest,
): Promise<RowPage<R>> => {
  const found = (await store.find(view, { ...options, ...(page.after === undefined ? {} : { after: page.after }), limit: page.limit + 1 })) as readonly StoredRow<R>[];
  if (found.length <= page.limit) return { rows: found, next: null };
  const rows = found.slice(0, page.limit);
  const last = rows.at(-1) as StoredRow<R>;
  return { rows, next: { values: options.orderBy.map(({ field }) => last.row[field] ?? null), key: last.key } };
};
