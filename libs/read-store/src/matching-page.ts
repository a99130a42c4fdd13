import { setImmediate as nextTurn } from 'node:timers/promises';
import { findPage, PAGE_SIZE, type PageRequest, type PageStart, type RowPage } from './find-page';
import type { FindOptions, ReadStore, Row, StoredRow } from './read-store';

/** Rows read at once while looking for matches; others run in between. */
const STRIDE = 200;
/** Most rows that one page looks at. */
const MOST_LOOKED_AT = 50_000;

/**
 * A page of the rows that match, for filters that no index serves: reads on until the page is full. Behind `MOST_LOOKED_AT`
 * rows, or where it is large, the page ends short, or empty, and says where the next one begins. `read` gives the rows to look
 * at where they are not those of one list.
 */
export const matchingPage = async <R extends Row = Row>(
  store: Pick<ReadStore, 'find'>,
  view: string,
  options: Required<Pick<FindOptions, 'where' | 'orderBy'>>,
  matches: (row: R) => boolean,
  page: PageRequest,
  read = (request: PageRequest): Promise<RowPage<R>> => findPage<R>(store, view, options, request),
): Promise<RowPage<R>> => {
  const found: StoredRow<R>[] = [];
  const placeOf = ({ key, row }: StoredRow<R>): PageStart => ({
    values: options.orderBy.map(({ field }) => row[field] ?? null),
    key,
  });
  let after = page.after;
  let size = 0;
  for (let lookedAt = 0; ; lookedAt += STRIDE, await nextTurn()) {
    if (after !== undefined && lookedAt >= MOST_LOOKED_AT) return { rows: found, next: after };
    const { rows, next } = await read({ limit: STRIDE, ...(after === undefined ? {} : { after }) });
    for (const row of rows) {
      if (!matches(row.row)) continue;
      size += row.size;
      if (found.length === page.limit || (found.length > 0 && size > PAGE_SIZE))
        return { rows: found, next: placeOf(found.at(-1) as StoredRow<R>) };
      found.push(row);
    }
    if (next === null) return { rows: found, next: null };
    after = next;
  }
};
