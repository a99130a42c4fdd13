import type { PageStart } from './find-page';
import { matchingPage } from './matching-page';
import type { FindOptions, StoredRow } from './read-store';

const ROWS = Array.from({ length: 1_000 }, (_, n): StoredRow => ({ key: String(n), position: '1', row: { n } }));
const store = { find: async (_view: string, { after, limit }: FindOptions) => ROWS.filter(({ row }) => after === undefined || Number(row['n']) > Number(after.values[0])).slice(0, limit) };
const options = { where: {}, orderBy: [{ field: 'n', order: 'asc' as const }] };

it('pages through the rows that match, whatever lies between them', async () => {
  const pages: number[][] = [];
  for (let after: PageStart | undefined; pages.length < 10; ) {
    const { rows, next } = await matchingPage(store, 'numbers', options, ({ n }) => Number(n) % 90 === 0, { limit: 5, ...(after === undefined ? {} : { after }) });
    pages.push(rows.map(({ row }) => Number(row['n'])));
    if (next === null) break;
    after = next;
  }
  expect(pages).toEqual([[0, 90, 180, 270, 360], [450, 540, 630, 720, 810], [900, 990]]);
});
