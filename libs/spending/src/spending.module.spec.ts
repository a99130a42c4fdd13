import { openContext } from '../../../test/fixtures/context';
import { callOf, TERMS } from '../../../test/fixtures/spending';
import { spendingLookups } from '../../../test/fixtures/spending-lookups';
import { Ledger } from './ledger';
import { CreateLimit } from './limits/commands/create-limit';
import { type Metering, METERING } from './metering';
import { SpendingModule } from './spending.module';

let context: Awaited<ReturnType<typeof openContext>>;
beforeAll(async () => (context = await openContext(SpendingModule, spendingLookups)));
afterAll(() => context.close());

it('the module of spending holds calls to the limits that its commands set', async () => {
  const { commands, ids, meta, module } = context;
  const metering = module.get<Metering>(METERING, { strict: false });
  expect(metering).toBe(module.get(Ledger, { strict: false }));
  const userId = ids.next();
  await commands.execute(new CreateLimit({ type: 'user', id: userId }, TERMS, meta()));
  const call = await metering.begin(callOf(userId, 100));
  await expect(metering.begin(callOf(userId, 1))).rejects.toMatchObject({ code: 'usage_limit_exceeded' });
  call.cancel();
});
