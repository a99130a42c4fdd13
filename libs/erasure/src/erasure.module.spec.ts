import { openContext } from '../../../test/fixtures/context';
import { ErasureModule } from './erasure.module';
import { FinishErasures } from './finish-erasures';

let context: Awaited<ReturnType<typeof openContext>>;
beforeAll(async () => (context = await openContext(ErasureModule)));
afterAll(() => context.close());

it('the module of erasure adds its policy, and exports what finishes erasures after a restore', async () => {
  expect(await context.policies()).toEqual(['erase-content']);
  await context.module.get(FinishErasures, { strict: false }).run();
});
