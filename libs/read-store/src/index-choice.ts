import type { Json } from '@app/kernel';
import type { IndexSpec } from './read-store';

export type Direction = 'asc' | 'desc';
export type Scalar = string | number | boolean | null;
export type OrderBy = readonly { readonly field: string; readonly order: Direction }[];

/** A field's value as indexes hold it, in every adapter: absent is null, booleans are 1 and 0, objects and lists are JSON text. Null comes first, then numbers, then text. */
export const comparable = (value: Json | undefined): string | number | null => {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' ? JSON.stringify(value) : value;
};

const FIELD = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
const INDEX = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** A field's name, which becomes part of statements and filters; throws where it could mean something there. */
export const checkedField = (field: string): string => {
  if (!FIELD.test(field)) throw new RangeError(`no field may be called ${JSON.stringify(field)}`);
  return field;
};

export const checkedIndexName = (name: string): string => {
  if (!INDEX.test(name)) throw new RangeError(`no index may be called ${JSON.stringify(name)}`);
  return name;
};

/** The index whose first fields are these, in any order; the shortest one. Throws when there is none. */
export const indexBeginningWith = (indexes: readonly IndexSpec[], fields: readonly string[]): IndexSpec => {
  const beginning = indexes
    .filter((index) => beginsWith(index, fields))
    .toSorted((a, b) => a.fields.length - b.fields.length)[0];
  if (beginning === undefined || fields.length === 0)
    throw new RangeError(`no declared index begins with ${fields.join(', ')}`);
  return beginning;
};

/** True when the first fields of an index are these, in any order. */
export const beginsWith = (index: IndexSpec, fields: readonly string[]): boolean => {
  const first = index.fields.slice(0, fields.length).map(({ field }) => field);
  return first.length === fields.length && fields.every((field) => first.includes(field));
};

/** The index that finds the equal fields and goes on in the wanted order, one way or the other; undefined: the primary key. */
export const servingIndex = (
  indexes: readonly IndexSpec[],
  equal: readonly string[],
  orderBy: OrderBy,
): IndexSpec | undefined => {
  if (equal.length === 0 && orderBy.length === 0) return undefined;
  const serving = indexes
    .filter((index) => beginsWith(index, equal) && continuesWith(index, equal.length, orderBy))
    .toSorted((a, b) => a.fields.length - b.fields.length)[0];
  if (serving === undefined)
    throw new RangeError(
      `no declared index serves where (${equal.join(', ')}) order by (${orderBy.map(({ field, order }) => `${field} ${order}`).join(', ')})`,
    );
  return serving;
};

const continuesWith = (index: IndexSpec, from: number, orderBy: OrderBy): boolean => {
  const next = index.fields.slice(from, from + orderBy.length);
  const along = orderBy.map(
    ({ field, order }, position) => next[position]?.field === field && (next[position].order ?? 'asc') === order,
  );
  return orderBy.every(({ field }, position) => next[position]?.field === field) && new Set(along).size <= 1;
};
