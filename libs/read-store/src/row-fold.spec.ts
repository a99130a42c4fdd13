import type { Operation, Row } from './read-store';
import { RowFold, type StoredRows } from './row-fold';

const EMPTY: StoredRows = { load: () => undefined, keysWhere: () => [], holder: () => undefined };

/** The row that the operations of one batch leave. */
const rowOf = (...operations: readonly Operation[]): Row | null | undefined => {
  const fold = new RowFold('view', [], EMPTY);
  for (const operation of operations) fold.apply({ position: '0000000000000001', operations: [operation] });
  return [...fold.written()][0]?.[1].row;
};
const folded = (...operations: readonly Operation[]): string => JSON.stringify(rowOf(...operations));
/** Rows that `Row` has not, and a projection may give all the same. */
const put = (row: Readonly<Record<string, unknown>>): Operation => ({ op: 'put', key: 'k', row: row as Row });
const rename: Operation = { op: 'patch', key: 'k', fields: { name: 'x' } };
const count: Operation = { op: 'increment', key: 'k', field: 'count', by: 1 };

describe('a row that several changes of one batch make', () => {
  it('is what it would be had it been stored and read between them', () => {
    expect(folded(put({ name: undefined, count: 1 }), rename)).toBe('{"count":1,"name":"x"}');
    expect(folded(put({ name: () => 'x', count: 1 }), rename)).toBe('{"count":1,"name":"x"}');
    expect(folded(put({ count: Infinity }), count)).toBe('{"count":1}');
    expect(folded(put({ count: { toJSON: () => 2 } }), count)).toBe('{"count":3}');
    expect(rowOf(put({ count: -0 }), rename)).toEqual({ count: 0, name: 'x' });
  });

  it('is not copied where it reads as it is', () => {
    const parse = jest.spyOn(JSON, 'parse');
    const text = folded(put({ name: 'a', tags: ['t', null], isOld: false, count: 1 }), rename, count);
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
    expect(text).toBe('{"name":"x","tags":["t",null],"isOld":false,"count":2}');
  });
});
