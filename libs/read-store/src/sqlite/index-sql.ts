import { checkedField, checkedIndexName } from '../index-choice';
import type { IndexSpec } from '../read-store';

/** The expression of a field. SQLite uses an expression index only for exactly the text the index was made with. */
export const fieldSql = (field: string): string => `row->>'$.${checkedField(field)}'`;

/** Statement that makes a declared index. The key ends every index that is not unique: ties are in the order of the keys. */
export const createIndexSql = ({ name, fields, unique }: IndexSpec): string => {
  const columns = fields.map(({ field, order = 'asc' }) => `${fieldSql(field)} ${order}`);
  const ties = unique ? [] : [`key ${fields.at(-1)?.order ?? 'asc'}`];
  return `create ${unique ? 'unique ' : ''}index "${checkedIndexName(name)}" on rows(${[...columns, ...ties].join(', ')})`;
};
