import * as fc from 'fast-check';
import { findPage, PAGE_SIZE, sizeOf } from './find-page';
import { newestOf } from './newest-of';
import type { FindOptions, ReadStore, StoredRow } from './read-store';

type Item = StoredRow<{ readonly space: string; readonly createdAt: string }>;

const item = (key: string, space: string, createdAt: string, size = 1): Item => ({
  key,
  position: '1',
  row: { space, createdAt },
  size,
});
const newestFirst = (a: Item, b: Item) =>
  a.row.createdAt < b.row.createdAt ? 1 : a.row.createdAt > b.row.createdAt ? -1 : a.key < b.key ? 1 : -1;

/** A store that finds the items of a space, newest first, behind a row. */
const storeOf = (items: readonly Item[]): Pick<ReadStore, 'find'> => ({
  find: async (_, { where, after, limit, most = Infinity }: FindOptions) =>
    upTo(
      most,
      items
        .filter(({ row }) => row.space === where?.['space'])
        .toSorted(newestFirst)
        .filter((found) => after === undefined || newestFirst(found, item(after.key, '', String(after.values[0]))) > 0)
        .slice(0, limit),
    ),
});

const upTo = (most: number, rows: readonly Item[]): readonly Item[] => {
  const end = rows.findIndex((_, index) => sizeOf(rows.slice(0, index + 1)) >= most);
  return end === -1 ? rows : rows.slice(0, end + 1);
};

test('pages of several lists and of rows at hand give every row once, newest first', async () => {
  const items = fc.uniqueArray(
    fc.record({
      key: fc.string({ minLength: 1, maxLength: 3 }),
      space: fc.constantFrom('a', 'b', 'c', 'hand'),
      createdAt: fc.constantFrom('1', '2', '3'),
      size: fc.constantFrom(1, PAGE_SIZE / 4, PAGE_SIZE / 2, PAGE_SIZE, 2 * PAGE_SIZE),
    }),
    { selector: ({ key }) => key, maxLength: 20 },
  );
  await fc.assert(
    fc.asyncProperty(items, fc.integer({ min: 1, max: 6 }), async (given, limit) => {
      const all = given.map(({ key, space, createdAt, size }) => item(key, space, createdAt, size));
      const atHand = all.filter(({ row }) => row.space === 'hand');
      const conditions = ['a', 'b', 'c'].map((space) => ({ space }));
      const seen: string[] = [];
      for (let after: { values: readonly string[]; key: string } | undefined; ;) {
        const { rows, next } = await newestOf(
          storeOf(all),
          'things',
          conditions,
          after === undefined ? { limit } : { limit, after },
          atHand,
        );
        expect(rows.length).toBeLessThanOrEqual(limit);
        if (rows.length > 1) expect(sizeOf(rows)).toBeLessThanOrEqual(PAGE_SIZE);
        seen.push(...rows.map(({ key }) => key));
        if (next === null) break;
        after = next as { values: readonly string[]; key: string };
      }
      expect(seen).toEqual(all.toSorted(newestFirst).map(({ key }) => key));
    }),
    { numRuns: 200 },
  );
});

test('pages of one list give every row once, and end where they are large', async () => {
  const items = fc.uniqueArray(
    fc.record({
      key: fc.string({ minLength: 1, maxLength: 3 }),
      createdAt: fc.constantFrom('1', '2', '3'),
      size: fc.constantFrom(1, PAGE_SIZE / 4, PAGE_SIZE / 2, PAGE_SIZE, 2 * PAGE_SIZE),
    }),
    { selector: ({ key }) => key, maxLength: 20 },
  );
  await fc.assert(
    fc.asyncProperty(items, fc.integer({ min: 1, max: 6 }), async (given, limit) => {
      const all = given.map(({ key, createdAt, size }) => item(key, 'a', createdAt, size));
      const options = { where: { space: 'a' }, orderBy: [{ field: 'createdAt', order: 'desc' as const }] };
      const seen: string[] = [];
      for (let after: FindOptions['after']; ;) {
        const { rows, next } = await findPage(
          storeOf(all),
          'things',
          options,
          after === undefined ? { limit } : { limit, after },
        );
        expect(rows.length).toBeLessThanOrEqual(limit);
        if (rows.length > 1) expect(sizeOf(rows)).toBeLessThanOrEqual(PAGE_SIZE);
        seen.push(...rows.map(({ key }) => key));
        if (next === null) break;
        after = next;
      }
      expect(seen).toEqual(all.toSorted(newestFirst).map(({ key }) => key));
    }),
    { numRuns: 200 },
  );
});
