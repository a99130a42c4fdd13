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
