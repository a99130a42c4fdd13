import type { Json } from '@app/kernel';
import type { FindOptions, IndexSpec } from '../read-store';
import { comparable, type Direction, type OrderBy, servingIndex } from '../index-choice';
import { fieldSql } from './index-sql';

type Where = NonNullable<FindOptions['where']>;
type Value = string | number | null;

/** A query over part of a page: the page is its parts one after the other. */
export interface PageQuery {
  /** Selects key, position, changed and row, the latter null where it is long; the last parameter is the limit. */
  readonly sql: string;
  readonly parameters: readonly Value[];
}

const COLUMNS = 'key, position, changed, iif(octet_length(row) <= 4096, row, null)';

interface Condition {
  readonly sql: string;
  readonly parameters: readonly Value[];
}

/** Part of a list; `order` names the fields that still differ within it. */
interface Range {
  readonly conditions: readonly Condition[];
  readonly order: OrderBy;
}

/**
 * The queries of a page, each served by one declared index from end to end. Keyset paging is a sequence of index ranges:
 * rows that tie with the last one in all fields, then in all but the last field, and so on. Throws when no index serves it.
 */
export const pageQueries = (
  indexes: readonly IndexSpec[],
  { where = {}, orderBy = [], after }: FindOptions,
): readonly PageQuery[] => {
  const equal = Object.keys(where);
  const open = orderBy.filter(({ field }) => !equal.includes(field));
  const index = servingIndex(indexes, equal, open);
  const keyOrder = orderBy.at(-1)?.order ?? 'asc';
  const source = index === undefined ? 'rows' : `rows indexed by "${index.name}"`;
  const given = Object.entries(where).map(equalTo);
  const ranges =
    after === undefined
      ? [{ conditions: [], order: open }]
      : rangesAfter(open, valuesOf(open, orderBy, after.values), after.key, keyOrder);
  return ranges.map(({ conditions, order }) => ({
    sql: `select ${COLUMNS} from ${source}${whereSql([...given, ...conditions])} order by ${[...order.map(({ field, order: way }) => `${fieldSql(field)} ${way}`), `key ${keyOrder}`].join(', ')} limit ?`,
    parameters: [...given, ...conditions].flatMap(({ parameters }) => parameters),
  }));
};

/** The query that counts rows; throws when no index serves it. */
export const countQuery = (indexes: readonly IndexSpec[], where: Where = {}): Condition => {
  const index = servingIndex(indexes, Object.keys(where), []);
  const given = Object.entries(where).map(equalTo);
  return {
    sql: `select count(*) from rows${index === undefined ? '' : ` indexed by "${index.name}"`}${whereSql(given)}`,
    parameters: given.flatMap(({ parameters }) => parameters),
  };
};

const equalTo = ([field, wanted]: [string, Where[string]]): Condition => {
  if (wanted === null) return { sql: `${fieldSql(field)} is null`, parameters: [] };
  if (typeof wanted !== 'object') return { sql: `${fieldSql(field)} = ?`, parameters: [comparable(wanted)] };
  if (wanted.in.length > 1_000)
    throw new RangeError(`${field} is compared with ${wanted.in.length} values; 1,000 is the most`);
  return { sql: `${fieldSql(field)} in (select value from json_each(?))`, parameters: [JSON.stringify(wanted.in)] };
};

/** The values at which the fields that are not fixed by equality begin. */
const valuesOf = (open: OrderBy, orderBy: OrderBy, values: readonly Json[]): readonly Value[] =>
  open.map((field) => comparable(values[orderBy.indexOf(field)]));

/** What comes after a row, as ranges in order. Null stands first ascending and last descending. */
const rangesAfter = (
  orderBy: OrderBy,
  values: readonly Value[],
  key: string,
  keyOrder: Direction,
): readonly Range[] => {
  const ties = orderBy.map(({ field }, position): Condition => equalTo([field, values[position] ?? null]));
  const ranges: Range[] = [
    { conditions: [...ties, { sql: `key ${keyOrder === 'asc' ? '>' : '<'} ?`, parameters: [key] }], order: [] },
  ];
  for (const [position, { field, order }] of [...orderBy.entries()].toReversed())
    for (const { condition, fixes } of beyondValue(fieldSql(field), order, values[position] ?? null))
      ranges.push({
        conditions: [...ties.slice(0, position), condition],
        order: orderBy.slice(fixes ? position + 1 : position),
      });
  return ranges;
};

/** What comes after a value of a field; `fixes`: it leaves the field one value only. */
const beyondValue = (
  field: string,
  order: Direction,
  value: Value,
): readonly { readonly condition: Condition; readonly fixes: boolean }[] => {
  const isNull = { condition: { sql: `${field} is null`, parameters: [] }, fixes: true };
  const isNotNull = { condition: { sql: `${field} is not null`, parameters: [] }, fixes: false };
  const beyond = { condition: { sql: `${field} ${order === 'asc' ? '>' : '<'} ?`, parameters: [value] }, fixes: false };
  if (order === 'asc') return [value === null ? isNotNull : beyond];
  return value === null ? [] : [beyond, isNull];
};

const whereSql = (conditions: readonly Condition[]): string =>
  conditions.length === 0 ? '' : ` where ${conditions.map(({ sql }) => sql).join(' and ')}`;
