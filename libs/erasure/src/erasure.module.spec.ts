import { Projecting } from '@app/projecting';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { SEARCH_INDEX, type SearchIndex } from '@app/search-index';
import { openContext } from '../../../test/fixtures/context';
import { ErasureModule } from './erasure.module';
import { ReapplyErasures } from './reapply-erasures-after-restore';

let context: Awaited<ReturnType<typeof openContext>>;
beforeAll(async () => (context = await openContext(ErasureModule)));
afterAll(() => context.close());

it('the module of erasure adds its policies, and exports what reapplies erasures after a restore', async () => {
  expect(await context.policies()).toEqual(['destroy-keys', 'erase-content']);
  await context.module.get(ReapplyErasures, { strict: false }).run();
});

it.each([
  ['ready', 1],
  ['building', 0],
] as const)(
  'purges the stores of what a build had read before a deletion, once it has caught up: %s',
  async (state, times) => {
    const { module } = context;
    const stores = [module.get<ReadStore>(READ_STORE), module.get<SearchIndex>(SEARCH_INDEX)];
    const purges = stores.map((store) => jest.spyOn(store, 'purge').mockClear());
    module.get(Projecting).events.emit('rebuild', { view: 'agents', version: 2, state });
    for (const purge of purges) expect(purge).toHaveBeenCalledTimes(times);
  },
);
