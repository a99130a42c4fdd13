import type { Json } from '@app/kernel';
import type { IndexSpec } from '../read-store';

export type Direction = 'asc' | 'desc';
export type Scalar = string | number | boolean | null;

const FIELD = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
const INDEX = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** The expression of a field. SQLite uses an expression index only for exactly the text the index was made with. */
export const fieldSql = (field: string): string => {
  if (!FIELD.test(field)) throw new RangeError(`no field may be called ${JSON.stringify(field)}`);
  return `row->>'$.${field}'`;
};

/** Statement that makes a declared index. The key ends every index that is not unique: ties are in the order of the keys. */
export const createIndexSql = ({ name, fields, unique }: IndexSpec): string => {
  if (!INDEX.test(name)) throw new RangeError(`no index may be called ${JSON.stringify(name)}`);
  const columns = fields.map(({ field, order = 'asc' }) => `${fieldSql(field)} ${order}`);
  const ties = unique ? [] : [`key ${fields.at(-1)?.order ?? 'asc'}`];
  return `create ${unique ? 'unique ' : ''}index "${name}" on rows(${[...columns, ...ties].join(', ')})`;
};

/** A field's value as `->>` gives it: absent is null, booleans are 1 and 0, objects and lists are JSON text. */
export const comparable = (value: Json | undefined): string | number | null => {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' ? JSON.stringify(value) : value;
};

/** The index whose first fields are these, in any order; the shortest one. */
export const indexBeginningWith = (indexes: readonly IndexSpec[], fields: readonly string[]): IndexSpec | undefined =>
  indexes
    .filter((index) => beginsWith(index, fields))
    .toSorted((a, b) => a.fields.length - b.fields.length)[0];

/** True when the first fields of an index are these, in any order. */
export const beginsWith = (index: IndexSpec, fields: readonly string[]): boolean => {
  const first = index.fields.slice(0, fields.length).map(({ field }) => field);
  return first.length === fields.length && fields.every((field) => first.includes(field));
};
