import { type Json, never, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import type { Operation, Row } from '@app/read-store';

/** Rows of one view in memory, by key. */
export type Rows = Map<string, Row>;

/**
 * Applies an event to rows as the view does: the same projection, for the given events alone. With `only` it keeps
 * one row: no row depends on another.
 */
export const foldEvent = (rows: Rows, projection: RowProjection, event: RecordedEvent, only?: string): void => {
  if (!projection.types.includes(event.type)) return;
  for (const operation of projection.apply(event))
    if (only === undefined || !('key' in operation) || operation.key === only) apply(rows, operation);
};

/** One operation, by the rules of the `ReadStore` port. */
const apply = (rows: Rows, operation: Operation): void => {
  switch (operation.op) {
    case 'put':
      rows.set(operation.key, operation.row);
      return;
    case 'patch':
      patch(rows, [operation.key], operation.fields);
      return;
    case 'increment':
      patch(rows, [operation.key], {
        [operation.field]: numberOf(rows.get(operation.key)?.[operation.field]) + operation.by,
      });
      return;
    case 'add': {
      const { key, row, by } = operation;
      const current = rows.get(key) ?? row;
      rows.set(key, {
        ...current,
        ...Object.fromEntries(Object.entries(by).map(([field, more]) => [field, numberOf(current[field]) + more])),
      });
      return;
    }
    case 'remove':
      rows.delete(operation.key);
      return;
    case 'removeWhere':
      for (const key of keysWhere(rows, operation.where)) rows.delete(key);
      return;
    case 'patchWhere':
      patch(rows, keysWhere(rows, operation.where), operation.fields);
      return;
    default:
      never(operation);
  }
};

const patch = (rows: Rows, keys: readonly string[], fields: Row): void => {
  for (const key of keys) {
    const row = rows.get(key);
    if (row !== undefined) rows.set(key, { ...row, ...fields });
  }
};

const keysWhere = (rows: Rows, where: Row): readonly string[] =>
  [...rows]
    .filter(([, row]) => Object.entries(where).every(([field, value]) => row[field] === value))
    .map(([key]) => key);

const numberOf = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);
