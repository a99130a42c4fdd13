import type { mongo } from 'mongoose';
import { checkedIndexName, comparable } from '../index-choice';
import type { IndexSpec, Row } from '../read-store';
import type { RowDocument } from './documents';
import { pathOf, signOf } from './find-filters';

/** The document of a row. */
export const documentOf = (
  indexes: readonly IndexSpec[],
  key: string,
  position: string,
  row: Row,
  commit: string,
): RowDocument => {
  const by: Record<string, string | number> = {};
  const claims: Record<string, string> = {};
  for (const { name, fields, unique } of indexes) {
    const values = fields.map(({ field }) => comparable(row[field]));
    values.forEach((value, index) => {
      if (value !== null) by[fields[index]?.field ?? ''] = value;
    });
    if (unique === true && values.every((value) => value !== null)) claims[name] = claimText(values);
  }
  const document = { _id: key, position, commit, row: JSON.stringify(row), by };
  return Object.keys(claims).length === 0 ? document : { ...document, claims };
};

/** What a row claims in a unique index. */
export const claimText = (values: readonly (string | number)[]): string => JSON.stringify(values);

/** Where the claims of a unique index stand in a row's document. */
export const claimPath = (index: string): string => `claims.${index}`;

/** How long what is left of a removed row stands: longer than a writer stands still that is not taken for dead by everybody. */
const REMOVED_KEPT_S = 24 * 60 * 60;

/** By which the server removes what is left of removed rows. */
export const removedIndex: mongo.IndexDescription = {
  name: 'removed',
  key: { removedAt: 1 },
  sparse: true,
  expireAfterSeconds: REMOVED_KEPT_S,
};

/** The indexes of a collection of rows. The key ends every declared one: ties are in the order of the keys. Uniqueness has indexes of its own, over the claims. */
export const indexDescriptions = (indexes: readonly IndexSpec[]): mongo.IndexDescription[] =>
  indexes.flatMap(({ name, fields, unique }) => {
    const key = Object.fromEntries([
      ...fields.map(({ field, order = 'asc' }) => [pathOf(field), signOf(order)]),
      ['_id', signOf(fields.at(-1)?.order ?? 'asc')],
    ]) as Record<string, 1 | -1>;
    const lookup = { name: checkedIndexName(name), key };
    return unique === true
      ? [lookup, { name: `${name} is unique`, key: { [claimPath(name)]: 1 as const }, unique: true, sparse: true }]
      : [lookup];
  });
