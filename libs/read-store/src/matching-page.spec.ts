import type { PageStart } from './find-page';
import { matchingPage } from './matching-page';
import type { Dated } from './newest-of';
import type { FindOptions, StoredRow } from './read-store';

/** The greater, the older. */
const dated = (n: number): string => String(999_999 - n);
const numberOf = (at: FindOptions['after']): number => 999_999 - Number(at?.values[0]);

const ROWS = Array.from({ length: 1_000 }, (_, n): StoredRow => ({
  key: String(n),
  position: '1',
  row: { n, createdAt: dated(n) },
  size: 10,
}));
const store = {
  find: async (_view: string, { after, limit }: FindOptions) =>
    ROWS.filter(({ row }) => after === undefined || Number(row['n']) > numberOf(after)).slice(0, limit),
};
type Numbered = Dated & { readonly n: number };

it('pages through the rows that match, whatever lies between them', async () => {
  const pages: number[][] = [];
  for (let after: PageStart | undefined; pages.length < 10;) {
    const { rows, next } = await matchingPage<Numbered>(store, 'numbers', [{}], ({ n }) => n % 90 === 0, {
      limit: 5,
      ...(after === undefined ? {} : { after }),
    });
    pages.push(rows.map(({ row }) => Number(row['n'])));
    if (next === null) break;
    after = next;
  }
  expect(pages).toEqual([
    [0, 90, 180, 270, 360],
    [450, 540, 630, 720, 810],
    [900, 990],
  ]);
});

it('looks at each row of several lists once, newest first, and reads a page of one list no further than it must', async () => {
  const read: number[] = [];
  const ofThree = {
    find: async (_view: string, { where, after, limit }: FindOptions) => {
      const found = ROWS.filter(
        ({ row }) =>
          Number(row['n']) % 3 === where?.['rest'] && (after === undefined || Number(row['n']) > numberOf(after)),
      ).slice(0, limit);
      read.push(...found.map(({ row }) => Number(row['n'])));
      return found;
    },
  };
  const lists = [{ rest: 0 }, { rest: 1 }, { rest: 2 }];
  const page = (limit: number, after?: PageStart) =>
    matchingPage<Numbered>(ofThree, 'numbers', lists, ({ n }) => n % 90 < 2, {
      limit,
      ...(after === undefined ? {} : { after }),
    });
  const first = await page(4);
  expect(first.rows.map(({ row }) => row.n)).toEqual([0, 1, 90, 91]);
  read.length = 0;
  const second = await page(100, first.next as PageStart);
  expect(second.rows.map(({ row }) => row.n)).toEqual(
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 11].flatMap((n) => [90 * n, 90 * n + 1]),
  );
  expect(second.next).toBeNull();
  // One row of each list begins the next stride, and is read again.
  expect(read.length).toBeLessThan(1_000);
});

describe('among many rows', () => {
  const MANY = 120_000;
  let asked = 0;
  const many = {
    find: async (_view: string, { after, limit }: FindOptions): Promise<StoredRow[]> => {
      asked += 1;
      const first = after === undefined ? 0 : numberOf(after) + 1;
      return Array.from({ length: Math.max(0, Math.min(limit, MANY - first)) }, (_, index) => ({
        key: String(first + index),
        position: '1',
        row: { n: first + index, createdAt: dated(first + index) },
        size: 10,
      }));
    },
  };

  it('looks at some, and says where to go on: behind short pages stands all that matches', async () => {
    const found: number[] = [];
    let pages = 0;
    for (let after: PageStart | undefined; ; pages += 1) {
      asked = 0;
      const { rows, next } = await matchingPage<Numbered>(many, 'numbers', [{}], ({ n }) => n % 50_000 === 49_999, {
        limit: 10,
        ...(after === undefined ? {} : { after }),
      });
      expect(asked).toBeLessThanOrEqual(250);
      found.push(...rows.map(({ row }) => Number(row['n'])));
      if (next === null) break;
      after = next;
    }
    expect(found).toEqual([49_999, 99_999]);
    expect(pages).toBe(2);
  });

  it('tells the rows of a stride before they are looked at, each once', async () => {
    const told = new Set<number>();
    const { rows } = await matchingPage<Numbered>(
      many,
      'numbers',
      [{}],
      ({ n }) => {
        if (!told.has(n)) throw new Error(`${n} was not told`);
        return n % 90 === 0;
      },
      { limit: 10 },
      async (ahead) => {
        for (const { n } of ahead) {
          if (told.has(n)) throw new Error(`${n} was told again`);
          told.add(n);
        }
      },
    );
    expect([rows.length, told.size]).toEqual([10, 1_000]);
  });

  it('lets others run between the strides', async () => {
    let turns = 0;
    const counting = (): void => void (counted = setImmediate(() => ((turns += 1), counting())));
    let counted: NodeJS.Immediate | undefined;
    counting();
    asked = 0;
    await matchingPage(many, 'numbers', [{}], () => false, { limit: 10 });
    clearImmediate(counted);
    expect(turns).toBeGreaterThanOrEqual(asked - 1);
  });
});
