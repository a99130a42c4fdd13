import { setImmediate as nextTurn } from 'node:timers/promises';
import { findPage, PAGE_SIZE, type PageRequest, type PageStart, type RowPage } from './find-page';
import { type Dated, newestFirst } from './newest-of';
import type { FindOptions, ReadStore, StoredRow } from './read-store';

/** Rows of a list that are read at once while looking for matches; others run in between. Fewer where there are many lists. */
const STRIDE = 200;
const LEAST_STRIDE = 20;
const STRIDES = 1_000;
/** Most rows that one page looks at. */
const MOST_LOOKED_AT = 50_000;

/** What was read of a list and not looked at yet. */
interface List<R extends Dated> {
  readonly where: NonNullable<FindOptions['where']>;
  rows: readonly StoredRow<R>[];
  at: number;
  /** Where it goes on behind these rows; null: nowhere. */
  next: PageStart | null | undefined;
}

/**
 * A page of the rows that match, newest first and ties by key, for filters that no index serves: looks on through the rows of all
 * lists, each of them once, until the page is full. Behind `MOST_LOOKED_AT` rows, or where it is large, the page ends short, or empty,
 * and says where the next one begins. `readAhead` is told rows before they are looked at, for matches that are found for many at once. No row may be in two lists, and an index must serve each, going on with `createdAt` descending.
 */
export const matchingPage = async <R extends Dated>(
  store: Pick<ReadStore, 'find'>,
  view: string,
  conditions: readonly NonNullable<FindOptions['where']>[],
  matches: (row: R) => boolean | Promise<boolean>,
  page: PageRequest,
  readAhead: (rows: readonly R[]) => Promise<void> = async () => undefined,
): Promise<RowPage<R>> => {
  const stride = Math.max(LEAST_STRIDE, Math.min(STRIDE, Math.ceil(STRIDES / conditions.length)));
  const lists = conditions.map((where): List<R> => ({ where, rows: [], at: 0, next: page.after }));
  const readOn = async (list: List<R>): Promise<void> => {
    const request = list.next ? { limit: stride, after: list.next } : { limit: stride };
    const { rows, next } = await findPage<R>(store, view, { where: list.where, orderBy: NEWEST }, request);
    if (rows.length > 0) await readAhead(rows.map(({ row }) => row));
    Object.assign(list, { rows, at: 0, next });
  };
  const found: StoredRow<R>[] = [];
  let size = 0;
  let last: StoredRow<R> | undefined;
  for (let lookedAt = 0; ; lookedAt += 1) {
    const isRead = lists.filter((list) => list.at === list.rows.length && list.next !== null);
    if (isRead.length > 0) {
      if (last !== undefined && lookedAt >= MOST_LOOKED_AT) return { rows: found, next: placeOf(last) };
      await Promise.all(isRead.map(readOn));
      await nextTurn();
    }
    const list = newest(lists);
    if (list === undefined) return { rows: found, next: null };
    last = list.rows[list.at] as StoredRow<R>;
    list.at += 1;
    const isMatch = matches(last.row);
    if (!(typeof isMatch === 'boolean' ? isMatch : await isMatch)) continue;
    size += last.size;
    if (found.length === page.limit || (found.length > 0 && size > PAGE_SIZE))
      return { rows: found, next: placeOf(found.at(-1) as StoredRow<R>) };
    found.push(last);
  }
};

const NEWEST = [{ field: 'createdAt', order: 'desc' }] as const;

const placeOf = ({ key, row }: StoredRow<Dated>): PageStart => ({ values: [row.createdAt], key });

/** The list whose next row is the newest; undefined behind the last row of all. */
const newest = <R extends Dated>(lists: readonly List<R>[]): List<R> | undefined => {
  let first: List<R> | undefined;
  for (const list of lists) {
    const row = list.rows[list.at];
    if (row === undefined) continue;
    if (first === undefined || newestFirst(row, first.rows[first.at] as StoredRow<R>) < 0) first = list;
  }
  return first;
};
