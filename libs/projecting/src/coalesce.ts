import type { Operation, Row, RowChange } from '@app/read-store';

/** What is left to do to one key, and the position of the last event that did something to it. */
interface Pending {
  position: string;
  operations: Operation[];
}

/**
 * Folds the operations of a batch per key, so that a row that changes often in a batch is written once. The rows that
 * result are the same, with the same positions. A unique index may refuse the folded batch where it took the original
 * order (two rows that exchange a value through a third): then the batch is written as it was.
 */
export const coalesced = (changes: readonly RowChange[]): readonly RowChange[] => {
  const out: RowChange[] = [];
  let pending = new Map<string, Pending>();
  const flush = (): void => {
    for (const change of pending.values()) out.push(change);
    pending = new Map();
  };
  for (const { position, operations } of changes) {
    for (const operation of operations) {
      if (operation.op === 'removeWhere' || operation.op === 'patchWhere') {
        flush();
        out.push({ position, operations: [operation] });
        continue;
      }
      const before = pending.get(operation.key);
      // Deleted and set anew, so that the pending changes stay in the order of their positions.
      if (before !== undefined) pending.delete(operation.key);
      pending.set(operation.key, { position, operations: before === undefined ? [operation] : followed(before.operations, operation) });
    }
  }
  flush();
  return out;
};

const followed = (operations: Operation[], next: Operation): Operation[] => {
  const last = operations.at(-1);
  if (next.op === 'put' || next.op === 'remove') return [next];
  if (last === undefined || last.op === 'removeWhere' || last.op === 'patchWhere') return [...operations, next];
  if (last.op === 'remove') return operations;
  const before = operations.slice(0, -1);
  if (last.op === 'put') return [...before, { ...last, row: changed(last.row, next) }];
  if (last.op === 'patch' && next.op === 'patch') return [...before, { ...last, fields: { ...last.fields, ...next.fields } }];
  return [...operations, next];
};

const changed = (row: Row, next: Operation): Row => {
  if (next.op === 'patch') return { ...row, ...next.fields };
  if (next.op !== 'increment') return row;
  const value = row[next.field];
  return { ...row, [next.field]: (typeof value === 'number' ? value : 0) + next.by };
};
