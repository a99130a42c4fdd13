import { findPage, type PageRequest, type PageStart, type RowPage } from './find-page';
import type { FindOptions, ReadStore, Row, StoredRow } from './read-store';

/** Rows read at once while looking for matches. */
const STRIDE = 200;

/** A page of the rows that match, for filters that no index serves: reads on until the page is full. */
export const matchingPage = async <R extends Row = Row>(
  store: Pick<ReadStore, 'find'>,
  view: string,
  options: Required<Pick<FindOptions, 'where' | 'orderBy'>>,
  matches: (row: R) => boolean,
  page: PageRequest,
): Promise<RowPage<R>> => {
  const found: StoredRow<R>[] = [];
  const placeOf = ({ key, row }: StoredRow<R>): PageStart => ({ values: options.orderBy.map(({ field }) => row[field] ?? null), key });
  let after = page.after;
  for (;;) {
    const { rows, next } = await findPage<R>(store, view, options, { limit: STRIDE, ...(after === undefined ? {} : { after }) });
    for (const row of rows) {
      if (!matches(row.row)) continue;
      if (found.length === page.limit) return { rows: found, next: placeOf(found.at(-1) as StoredRow<R>) };
      found.push(row);
    }
    if (next === null) return { rows: found, next: null };
    after = next;
  }
};
