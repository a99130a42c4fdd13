import { setImmediate as turn } from 'node:timers/promises';
import type { FindOptions, PageStart, ReadStore, Row, StoredRow } from '@app/read-store';
import { INVOCATION_FILTERS, type InvocationRow, invocations } from './invocations.projection';

type FilterField = (typeof INVOCATION_FILTERS)[number];
export type InvocationFilter = { readonly [Field in FilterField]?: string | undefined };

/** A row that is dated and can be filtered. */
type FilteredRow = Row & { readonly at: string } & { readonly [Field in FilterField]: string | null };

/** Which calls: those that meet every filter and began at `from` or later, and before `to`; ISO 8601 UTC with milliseconds. */
export interface WantedInvocations {
  readonly filters: readonly InvocationFilter[];
  readonly from: string;
  /** Without it: up to the newest. */
  readonly to?: string | undefined;
}

export interface ReadingOptions {
  readonly order?: 'asc' | 'desc';
  /** Goes on behind this row. */
  readonly after?: PageStart | undefined;
  /** Rows read at once. */
  readonly stride?: number;
}

/** The calls that are wanted, newest first by default, a page at a time. */
export const invocationPages = (
  store: Pick<ReadStore, 'find'>,
  wanted: WantedInvocations,
  options?: ReadingOptions,
): AsyncGenerator<readonly StoredRow<InvocationRow>[]> =>
  filteredPages<InvocationRow>(store, invocations.name, wanted, options);

/** Rows of a view that has the fields of filters and `at`, with an index for each filter: one is served by its index, the others are compared row by row. Reads in small pages, since each costs a turn of the event loop. */
export async function* filteredPages<R extends FilteredRow>(
  store: Pick<ReadStore, 'find'>,
  view: string,
  wanted: WantedInvocations,
  { order = 'desc', after, stride = 250 }: ReadingOptions = {},
): AsyncGenerator<readonly StoredRow<R>[]> {
  const conditions = conditionsOf(wanted.filters);
  const options: Omit<FindOptions, 'limit'> = {
    where: Object.fromEntries(conditions.slice(0, 1)),
    orderBy: [{ field: 'at', order }],
  };
  const first = order === 'asc' ? wanted.from : wanted.to;
  let place = after ?? (first === undefined ? undefined : { values: [first], key: '' });
  for (;;) {
    const rows = (await store.find(view, {
      ...options,
      ...(place === undefined ? {} : { after: place }),
      limit: stride,
    })) as readonly StoredRow<R>[];
    const within = rows.filter(({ row: { at } }) => at >= wanted.from && (wanted.to === undefined || at < wanted.to));
    const matching = within.filter(({ row }) => conditions.every(([field, value]) => row[field] === value));
    if (matching.length > 0) yield matching;
    const last = rows.at(-1);
    if (last === undefined || rows.length < stride || within.length < rows.length) return;
    place = { values: [last.row.at], key: last.key };
    // Reading costs time of this thread: calls that stream meanwhile come first.
    await turn();
  }
}

/** Those that usually leave the fewest rows first. Several filters may name the same field: then all of them must hold. */
const conditionsOf = (filters: readonly InvocationFilter[]): readonly (readonly [FilterField, string])[] =>
  INVOCATION_FILTERS.flatMap((field) =>
    filters.flatMap((filter) => (filter[field] === undefined ? [] : [[field, filter[field]] as const])),
  );
