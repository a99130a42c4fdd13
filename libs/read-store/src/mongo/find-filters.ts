import type { Json } from '@app/kernel';
import type { mongo } from 'mongoose';
import { checkedField, type Direction, type OrderBy, servingIndex } from '../index-choice';
import type { FindOptions, IndexSpec } from '../read-store';
import { documentRows, type RowFormat } from './row-format';

type Where = NonNullable<FindOptions['where']>;
type Filter = mongo.Filter<mongo.Document>;
/** Paths and values of indexed fields; the rest of a format is about whole rows. */
type Fields = Pick<RowFormat, 'base' | 'path' | 'value'>;

/** A query for part of a page. A page is its parts in order. */
export interface PageQuery {
  readonly filter: Filter;
  readonly sort: Readonly<Record<string, 1 | -1>>;
  /** The index that serves it. */
  readonly hint: string;
}

type Condition = readonly [path: string, condition: unknown];

/** Part of a list. `order`: the fields that still differ within it. */
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
  fields: Fields = documentRows as Fields,
): readonly PageQuery[] => {
  const equal = Object.keys(where);
  const open = orderBy.filter(({ field }) => !equal.includes(field));
  const hint = servingIndex(indexes, equal, open)?.name ?? '_id_';
  const keyOrder = orderBy.at(-1)?.order ?? 'asc';
  const given = Object.entries(where).map((entry) => equalTo(fields, ...entry));
  const ranges =
    after === undefined
      ? [{ conditions: [], order: open }]
      : rangesAfter(fields, open, valuesOf(open, orderBy, after.values), after.key, keyOrder);
  return ranges.map(({ conditions, order }) => ({
    filter: filterOf(fields, [...given, ...conditions]),
    sort: Object.fromEntries([
      ...order.map(({ field, order: way }) => [pathOf(fields, field), signOf(way)]),
      ['_id', signOf(keyOrder)],
    ]),
    hint,
  }));
};

/** The query that counts rows. Throws if no index serves it. */
export const countQuery = (
  indexes: readonly IndexSpec[],
  where: Where = {},
  fields: Fields = documentRows as Fields,
): Pick<PageQuery, 'filter' | 'hint'> => ({
  filter: equalityFilter(where, fields),
  hint: servingIndex(indexes, Object.keys(where), [])?.name ?? '_id_',
});

/** Filters rows whose fields equal these. */
export const equalityFilter = (where: Where, fields: Fields = documentRows as Fields): Filter =>
  filterOf(
    fields,
    Object.entries(where).map((entry) => equalTo(fields, ...entry)),
  );

export const signOf = (order: Direction): 1 | -1 => (order === 'asc' ? 1 : -1);

const pathOf = ({ path }: Fields, field: string): string => path(checkedField(field));

const equalTo = (fields: Fields, field: string, wanted: Where[string]): Condition => {
  if (wanted === null || typeof wanted !== 'object' || !('in' in wanted))
    return [pathOf(fields, field), { $eq: fields.value(wanted) }];
  if (wanted.in.length > 1_000)
    throw new RangeError(`${field} is compared with ${wanted.in.length} values; 1,000 is the most`);
  return [pathOf(fields, field), { $in: wanted.in.map((value) => fields.value(value)) }];
};

/** Start values of the fields that equality does not fix. */
const valuesOf = (open: OrderBy, orderBy: OrderBy, values: readonly Json[]): readonly Json[] =>
  open.map((field) => values[orderBy.indexOf(field)] ?? null);

/** The ranges after a row, in order. */
const rangesAfter = (
  fields: Fields,
  orderBy: OrderBy,
  values: readonly Json[],
  key: string,
  keyOrder: Direction,
): readonly Range[] => {
  const ties = orderBy.map(({ field }, position): Condition => [
    pathOf(fields, field),
    { $eq: fields.value(values[position]) },
  ]);
  const ranges: Range[] = [
    { conditions: [...ties, ['_id', { [keyOrder === 'asc' ? '$gt' : '$lt']: key }]], order: [] },
  ];
  for (const [position, { field, order }] of [...orderBy.entries()].toReversed())
    for (const condition of beyond(order, fields.value(values[position])))
      ranges.push({
        conditions: [...ties.slice(0, position), [pathOf(fields, field), condition]],
        order: orderBy.slice(position),
      });
  return ranges;
};

/** Types of indexed values in MongoDB's order; null comes first. */
const TYPES = ['number', 'string', 'object', 'bool'] as const;
const TYPE_OF: Readonly<Record<string, (typeof TYPES)[number]>> = {
  number: 'number',
  string: 'string',
  object: 'object',
  boolean: 'bool',
};

/** The ranges after a value of a field. A comparison in MongoDB stays within one type; values of other types follow by type. */
const beyond = (order: Direction, value: unknown): readonly object[] => {
  const NULL = { $eq: null };
  if (value === null) return order === 'asc' ? [{ $type: TYPES }] : [];
  const place = TYPES.indexOf(TYPE_OF[typeof value] ?? 'object');
  const [before, behind] = [TYPES.slice(0, place), TYPES.slice(place + 1)];
  if (order === 'asc') return [{ $gt: value }, ...(behind.length === 0 ? [] : [{ $type: behind }])];
  return [{ $lt: value }, ...(before.length === 0 ? [] : [{ $type: before }]), NULL];
};

/** Joins conditions into one filter, also several on one path. Values are scalars here: none can be an operator. */
const filterOf = ({ base }: Fields, conditions: readonly Condition[]): Filter => {
  const all = [...Object.entries(base), ...conditions];
  return all.length === 0 ? {} : ({ $and: all.map(([path, condition]) => ({ [path]: condition })) } as Filter);
};
