import * as fc from 'fast-check';
import type { Operation, Row } from '.';
import { at, change, put, type TestView } from './test-view.contract';

/** What operations make of rows. */
export const operationsContract = (view: () => TestView): void => {
  describe('operations', () => {
    it('puts, patches, increments and removes rows', async () => {
      await view().commit([
        change(1, put('a', { name: 'A' }), put('b', { name: 'B', uses: 1 }), put('c', { name: 'C' })),
      ]);
      await view().commit([
        change(
          2,
          { op: 'patch', key: 'a', fields: { name: 'AA', note: null } },
          { op: 'increment', key: 'b', field: 'uses', by: 2 },
          { op: 'increment', key: 'b', field: 'fails', by: -1 },
          { op: 'remove', key: 'c' },
        ),
      ]);
      expect(await view().everything()).toEqual([
        { key: 'a', position: at(2), row: { name: 'AA', note: null }, size: 25 },
        { key: 'b', position: at(2), row: { name: 'B', uses: 3, fails: -1 }, size: 32 },
      ]);
    });

    it('adds to a row, which is made where there is none', async () => {
      const add = (key: string, by: Readonly<Record<string, number>>) => ({
        op: 'add' as const,
        key,
        row: { name: 'new', n: 1 },
        by,
      });
      await view().commit([change(1, put('a', { name: 'A', n: 5 }), add('b', { n: 2 }), add('b', { n: 3, m: -1 }))]);
      await view().commit([
        change(
          2,
          add('a', { n: 1 }),
          add('b', { n: 10 }),
          { op: 'remove', key: 'b' },
          add('b', { n: 4 }),
          add('c', {}),
        ),
      ]);
      expect(await view().everything()).toEqual([
        { key: 'a', position: at(2), row: { name: 'A', n: 6 }, size: 18 },
        { key: 'b', position: at(2), row: { name: 'new', n: 5 }, size: 20 },
        { key: 'c', position: at(2), row: { name: 'new', n: 1 }, size: 20 },
      ]);
    });

    it('leaves a missing row missing', async () => {
      await view().commit([
        change(
          1,
          { op: 'patch', key: 'x', fields: { a: 1 } },
          { op: 'increment', key: 'x', field: 'a', by: 1 },
          { op: 'remove', key: 'x' },
        ),
      ]);
      expect(await view().everything()).toEqual([]);
    });

    it('removes and patches by equal fields, counting what the same batch did before', async () => {
      await view().commit([
        change(
          1,
          put('a', { spaceId: 's1', archived: false }),
          put('b', { spaceId: 's1', archived: true }),
          put('c', { spaceId: 's2', archived: false }),
        ),
      ]);
      await view().commit([
        change(2, put('d', { spaceId: 's1', archived: true }), { op: 'patch', key: 'b', fields: { archived: false } }),
        change(3, { op: 'removeWhere', where: { spaceId: 's1', archived: true } }),
        change(4, { op: 'patchWhere', where: { spaceId: 's1' }, fields: { seen: true } }),
      ]);
      expect((await view().everything()).map(({ key, row: found }) => [key, found['seen']])).toEqual([
        ['a', true],
        ['b', true],
        ['c', undefined],
      ]);
    });

    it('rejects to remove by fields that begin no index', async () => {
      await expect(view().commit([change(1, { op: 'removeWhere', where: { name: 'A' } })])).rejects.toThrow(
        'no declared index begins with name',
      );
    });

    it('keeps the latest position on a row when an older event comes late', async () => {
      await view().commit([change(5, put('a', { n: 1 }))]);
      await view().commit([change(3, { op: 'increment', key: 'a', field: 'n', by: 1 })]);
      expect(await view().store.get(view().name, 'a')).toEqual({ key: 'a', position: at(5), row: { n: 2 }, size: 7 });
    });

    it.each([
      ['with', true],
      ['without', false],
    ])(
      'gives byte-equal rows however the same changes are split into batches, %s unique values',
      async (_, isUnique) => {
        let made = 1;
        await fc.assert(
          fc.asyncProperty(changesAndSplit, async ({ operations, cuts }) => {
            const changes = operations.map((list, index) => change(index + 1, ...list));
            const [one, split] = [(made += 1), (made += 1)];
            await view().store.prepare(view().spec(one, { isUnique }));
            await view().store.prepare(view().spec(split, { isUnique }));
            await view().commit(changes, { version: one });
            const edges = [...new Set([0, ...cuts.map((cut) => cut % (changes.length + 1)), changes.length])].toSorted(
              (a, b) => a - b,
            );
            for (const [index, edge] of edges.slice(1).entries())
              await view().commit(changes.slice(edges[index], edge), { version: split });
            const rows = await Promise.all([one, split].map((version) => view().everything(version)));
            expect(JSON.stringify(rows[1])).toBe(JSON.stringify(rows[0]));
            await Promise.all([view().store.drop(view().name, one), view().store.drop(view().name, split)]);
          }),
          { numRuns: 25 },
        );
      },
    );
  });
};

const value = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
  fc.constant(undefined),
  fc.constant({ b: 1, a: [undefined] }),
);
const key = fc.constantFrom('k1', 'k2', 'k3');
const space = fc.constantFrom('s1', 's2', 's3');
/** With `undefined` within, which `Row` has not and a projection may give all the same. */
const fields = fc.record({ spaceId: space, name: value, note: value }, { requiredKeys: [] }) as fc.Arbitrary<Row>;
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ op: fc.constant('put' as const), key, row: fields }) },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('patch' as const), key, fields }) },
  fc.record({
    op: fc.constant('increment' as const),
    key,
    field: fc.constant('count'),
    by: fc.double({ noNaN: true, min: -1e6, max: 1e6 }),
  }),
  fc.record({
    op: fc.constant('add' as const),
    key,
    row: fc.record({ name: fc.string(), spaceId: space }),
    by: fc.dictionary(fc.constantFrom('count', 'other'), fc.integer()),
  }),
  fc.record({ op: fc.constant('remove' as const), key }),
  fc.record({ op: fc.constant('removeWhere' as const), where: fc.record({ spaceId: space }) }),
  fc.record({ op: fc.constant('patchWhere' as const), where: fc.record({ spaceId: space }), fields }),
);
const changesAndSplit = fc.record({
  operations: fc.array(fc.array(operation, { maxLength: 3 }), { minLength: 1, maxLength: 12 }),
  cuts: fc.array(fc.nat(), { maxLength: 6 }),
});
