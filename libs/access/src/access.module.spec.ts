import { CreateApiKey, CreateUser, EVERYTHING } from '@app/identity';
import { openContext } from '../../../test/fixtures/context';
import { AccessModule } from './access.module';
import { Authenticator, keyCredential } from './authenticator';

let context: Awaited<ReturnType<typeof openContext>>;
beforeAll(async () => (context = await openContext(AccessModule)));
afterAll(() => context.close());

it('the module of access exports what knows callers by their keys', async () => {
  const { commands, meta, module } = context;
  const fields = { email: 'a@example.com', name: 'A', role: 'admin', language: 'en' } as const;
  const { userId } = await commands.execute(new CreateUser(fields, meta()));
  const { secret } = await commands.execute(new CreateApiKey(userId, { name: 'K', ...EVERYTHING }, meta()));
  const authenticator = module.get(Authenticator, { strict: false });
  expect(await authenticator.authenticate(keyCredential(secret ?? ''))).toMatchObject({ userId, role: 'admin' });
  expect(await authenticator.authenticate(keyCredential('ap_unknown'))).toBeUndefined();
});
