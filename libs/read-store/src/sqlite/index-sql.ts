import { checkedField, checkedIndexName } from '../index-choice';
import type { IndexSpec } from '../read-store';

/** The expression of a field. SQLite uses an expression index only for exactly the text the index was made with. */
export const fieldSql = (field: string): string => `row->>'$.${checkedField(field)}'`;

/**
 * Statement that makes a declared index. The key ends every index that is not unique: ties are in the order of the keys. What is
 * declared newest first is made newest last: an index is read both ways, and takes in rows a quarter cheaper at its end.
 */
export const createIndexSql = ({ name, fields, unique }: IndexSpec): string => {
  const isReversed = fields.at(-1)?.order === 'desc';
  const columns = fields.map(
    ({ field, order = 'asc' }) => `${fieldSql(field)} ${(order === 'desc') === isReversed ? 'asc' : 'desc'}`,
  );
  const ties = unique ? [] : ['key asc'];
  return `create ${unique ? 'unique ' : ''}index "${checkedIndexName(name)}" on rows(${[...columns, ...ties].join(', ')})`;
};
