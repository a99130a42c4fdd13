import { setImmediate as nextTurn } from 'node:timers/promises';
import { findPage, type PageStart, type RowPage } from './find-page';
import type { FindOptions, ReadStore, Row, StoredRow } from './read-store';

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
