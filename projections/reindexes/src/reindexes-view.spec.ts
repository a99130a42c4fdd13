import { keysInOrder, pagedRows } from '../../../test/fixtures/paged-rows';
import { reindexesIn } from './reindexes-view.module';

it('re-indexes that run are found however many come before them', async () => {
  const ids = keysInOrder(1_200);
  expect(await reindexesIn(pagedRows(ids, (startedAt) => ({ startedAt }))).running()).toEqual(ids);
});
