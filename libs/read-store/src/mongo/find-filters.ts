import type { Json } from '@app/kernel';
import type { mongo } from 'mongoose';
import { checkedField, comparable, type Direction, type OrderBy, servingIndex } from '../index-choice';
import type { FindOptions, IndexSpec } from '../read-store';
import type { RowDocument } from './documents';

type Where = NonNullable<FindOptions['where']>;
type Value = string | number | null;
type Filter = mongo.Filter<RowDocument>;

/** A query over part of a page: the page is its parts one after the other. */
export interface PageQuery {
  readonly filter: Filter;
  readonly sort: Readonly<Record<string, 1 | -1>>;
  /** Name of the index that serves it. */
  readonly hint: string;
}

type Condition = readonly [path: string, condition: unknown];

/** Part of a list; `order` names the fields that still differ within it. */
interface Range {
  readonly conditions: readonly Condition[];
  readonly order: OrderBy;
}

/**
 * The queries of a page, each served by one declared index from end to end. Keyset paging is a sequence of index ranges: rows
 * that tie with the last one in all fields, then in all but the last field, and so on. Throws when no index serves it.
 */
export const pageQueries = (
  indexes: readonly IndexSpec[],
  { where = {}, orderBy = [], after }: FindOptions,
): readonly PageQuery[] => {
  const equal = Object.keys(where);
  const open = orderBy.filter(({ field }) => !equal.includes(field));
  const hint = servingIndex(indexes, equal, open)?.name ?? '_id_';
  const keyOrder = orderBy.at(-1)?.order ?? 'asc';
  const given = Object.entries(where).map(equalTo);
  const ranges =
    after === undefined
      ? [{ conditions: [], order: open }]
      : rangesAfter(open, valuesOf(open, orderBy, after.values), after.key, keyOrder);
  return ranges.map(({ conditions, order }) => ({
    filter: filterOf([...given, ...conditions]),
    sort: Object.fromEntries([
      ...order.map(({ field, order: way }) => [pathOf(field), signOf(way)]),
      ['_id', signOf(keyOrder)],
    ]),
    hint,
  }));
};

/** The query that counts rows; throws when no index serves it. */
export const countQuery = (indexes: readonly IndexSpec[], where: Where = {}): Pick<PageQuery, 'filter' | 'hint'> => ({
  filter: filterOf(Object.entries(where).map(equalTo)),
  hint: servingIndex(indexes, Object.keys(where), [])?.name ?? '_id_',
});

/** Where an indexed field stands in a row's document. */
export const pathOf = (field: string): string => `by.${checkedField(field)}`;

export const signOf = (order: Direction): 1 | -1 => (order === 'asc' ? 1 : -1);

const equalTo = ([field, wanted]: readonly [string, Where[string]]): Condition => {
  if (wanted === null || typeof wanted !== 'object') return [pathOf(field), { $eq: comparable(wanted) }];
  if (wanted.in.length > 1_000)
    throw new RangeError(`${field} is compared with ${wanted.in.length} values; 1,000 is the most`);
  return [pathOf(field), { $in: wanted.in.map(comparable) }];
};

/** The values at which the fields that are not fixed by equality begin. */
const valuesOf = (open: OrderBy, orderBy: OrderBy, values: readonly Json[]): readonly Value[] =>
  open.map((field) => comparable(values[orderBy.indexOf(field)]));

/** What comes after a row, as ranges in order. */
const rangesAfter = (
  orderBy: OrderBy,
  values: readonly Value[],
  key: string,
  keyOrder: Direction,
): readonly Range[] => {
  const ties = orderBy.map(({ field }, position): Condition => equalTo([field, values[position] ?? null]));
  const ranges: Range[] = [
    { conditions: [...ties, ['_id', { [keyOrder === 'asc' ? '$gt' : '$lt']: key }]], order: [] },
  ];
  for (const [position, { field, order }] of [...orderBy.entries()].toReversed())
    for (const condition of beyond(order, values[position] ?? null))
      ranges.push({
        conditions: [...ties.slice(0, position), [pathOf(field), condition]],
        order: orderBy.slice(position),
      });
  return ranges;
};

const NUMBERS = { $gte: -Infinity };
const TEXTS = { $gte: '' };
const NULL = { $eq: null };

/** What comes after a value of a field: null, then numbers, then text. Comparisons in MongoDB never leave the type of their value. */
const beyond = (order: Direction, value: Value): readonly object[] => {
  if (order === 'asc') {
    if (value === null) return [NUMBERS, TEXTS];
    return typeof value === 'number' ? [{ $gt: value }, TEXTS] : [{ $gt: value }];
  }
  if (value === null) return [];
  return typeof value === 'number' ? [{ $lt: value }, NULL] : [{ $lt: value }, NUMBERS, NULL];
};

/** One filter of several conditions; conditions on the same path all hold. Values are scalars by now: nothing given can be an operator. */
const filterOf = (conditions: readonly Condition[]): Filter =>
  conditions.length === 0 ? {} : ({ $and: conditions.map(([path, condition]) => ({ [path]: condition })) } as Filter);
