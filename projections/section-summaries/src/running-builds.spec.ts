import { keysInOrder, pagedRows } from '../../../test/fixtures/paged-rows';
import { runningBuilds } from './section-summaries-view.module';

it('builds of summary indexes are found however many come before them', async () => {
  const ids = keysInOrder(1_200);
  expect(await runningBuilds(pagedRows(ids, (agentId) => ({ agentId })))()).toEqual(ids);
});
