import type { FindOptions, StoredRow } from '@app/read-store';
import { runningBuilds } from './section-summaries-view.module';

/** Rows by their keys, in pages. */
const store = (ids: readonly string[]) => ({
  find: async (_: string, { after, limit }: FindOptions): Promise<readonly StoredRow[]> =>
    ids
      .filter((key) => after === undefined || key > after.key)
      .slice(0, limit)
      .map((key) => ({ key, position: '', row: { agentId: key }, size: 1 })),
});

it('builds of summary indexes are found however many come before them', async () => {
  const ids = Array.from({ length: 1_200 }, (_, index) => String(index).padStart(4, '0'));
  expect(await runningBuilds(store(ids))()).toEqual(ids);
});
