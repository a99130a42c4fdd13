import type { Operation, RowChange } from '@app/read-store';
import fc from 'fast-check';
import { MemoryReadStore } from '../../../test/fixtures/memory-read-store';
import { positionOf } from '../../../test/fixtures/memory-log';
import { coalesced } from './coalesce';

const key = fc.constantFrom('a', 'b', 'c');
const fields = fc.dictionary(fc.constantFrom('x', 'y'), fc.oneof(fc.integer({ min: 0, max: 2 }), fc.constant(null)));
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ op: fc.constant('put' as const), key, row: fields }),
  fc.record({ op: fc.constant('patch' as const), key, fields }),
  fc.record({ op: fc.constant('increment' as const), key, field: fc.constantFrom('x', 'y'), by: fc.integer({ min: 1, max: 2 }) }),
  fc.record({ op: fc.constant('remove' as const), key }),
  fc.record({ op: fc.constant('removeWhere' as const), where: fc.record({ x: fc.integer({ min: 0, max: 2 }) }) }),
  fc.record({ op: fc.constant('patchWhere' as const), where: fc.record({ x: fc.integer({ min: 0, max: 2 }) }), fields }),
);
const history = fc.array(fc.array(operation, { maxLength: 3 }), { maxLength: 30 }).map((all) => all.map((operations, index): RowChange => ({ position: positionOf(index + 1), operations })));

const rowsOf = async (changes: readonly RowChange[]): Promise<string> => {
  const store = new MemoryReadStore();
  await store.prepare({ name: 'v', version: 1, indexes: [] });
  await store.commit({ view: 'v', version: 1, changes, from: null, to: { position: positionOf(99), handled: 0 }, fence: 1 });
  return store.text('v', 1);
};

describe('coalesced', () => {
  it('leaves the same rows at the same positions as the operations one by one', () =>
    fc.assert(fc.asyncProperty(history, async (changes) => expect(await rowsOf(coalesced(changes))).toBe(await rowsOf(changes))), { numRuns: 500 }));

  it('writes a row that changes often once', () => {
    const changes: RowChange[] = [
      { position: positionOf(1), operations: [{ op: 'put', key: 'a', row: { n: 0 } }] },
      ...[2, 3, 4].map((number): RowChange => ({ position: positionOf(number), operations: [{ op: 'increment', key: 'a', field: 'n', by: 1 }] })),
    ];
    expect(coalesced(changes)).toEqual([{ position: positionOf(4), operations: [{ op: 'put', key: 'a', row: { n: 3 } }] }]);
  });
});
