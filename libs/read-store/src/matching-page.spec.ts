import type { PageStart } from './find-page';
import { matchingPage } from './matching-page';
import type { FindOptions, StoredRow } from './read-store';

const ROWS = Array.from({ length: 1_000 }, (_, n): StoredRow => ({
  key: String(n),
  position: '1',
  row: { n },
  size: 10,
}));
const store = {
  find: async (_view: string, { after, limit }: FindOptions) =>
    ROWS.filter(({ row }) => after === undefined || Number(row['n']) > Number(after.values[0])).slice(0, limit),
};
const options = { where: {}, orderBy: [{ field: 'n', order: 'asc' as const }] };

it('pages through the rows that match, whatever lies between them', async () => {
  const pages: number[][] = [];
  for (let after: PageStart | undefined; pages.length < 10;) {
    const { rows, next } = await matchingPage(store, 'numbers', options, ({ n }) => Number(n) % 90 === 0, {
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

describe('among many rows', () => {
  const MANY = 120_000;
  let asked = 0;
  const many = {
    find: async (_view: string, { after, limit }: FindOptions): Promise<StoredRow[]> => {
      asked += 1;
      const first = after === undefined ? 0 : Number(after.values[0]) + 1;
      return Array.from({ length: Math.max(0, Math.min(limit, MANY - first)) }, (_, index) => ({
        key: String(first + index),
        position: '1',
        row: { n: first + index },
        size: 10,
      }));
    },
  };

  it('looks at some, and says where to go on: behind short pages stands all that matches', async () => {
    const found: number[] = [];
    let pages = 0;
    for (let after: PageStart | undefined; ; pages += 1) {
      asked = 0;
      const { rows, next } = await matchingPage(many, 'numbers', options, ({ n }) => Number(n) % 50_000 === 49_999, {
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

  it('lets others run between the strides', async () => {
    let turns = 0;
    const counting = (): void => void (counted = setImmediate(() => ((turns += 1), counting())));
    let counted: NodeJS.Immediate | undefined;
    counting();
    asked = 0;
    await matchingPage(many, 'numbers', options, () => false, { limit: 10 });
    clearImmediate(counted);
    expect(turns).toBeGreaterThanOrEqual(asked - 1);
  });
});
