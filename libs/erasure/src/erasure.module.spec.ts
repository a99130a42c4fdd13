import { openContext } from '../../../test/fixtures/context';
import { ErasureModule } from './erasure.module';
import { FinishErasures } from './finish-erasures';

let context: Awaited<ReturnType<typeof openContext>>;
beforeAll(async () => (context = await openContext(ErasureModule)));
afterAll(() => context.close());

it('the module of erasure adds its policies, and exports what finishes erasures after a restore', async () => {
  expect(await context.policies()).toEqual(['destroy-keys', 'erase-content']);
  await context.module.get(FinishErasures, { strict: false }).run();
});
