import { openContext } from '../../../test/fixtures/context';
import { AdminRegister } from './admins/admin-register';
import { CreateApiKey } from './api-key/commands/create-api-key';
import { EVERYTHING } from './bootstrap';
import { IdentityModule } from './identity.module';
import { CreateUser } from './user/commands/create-user';

let context: Awaited<ReturnType<typeof openContext>>;
beforeAll(async () => (context = await openContext(IdentityModule)));
afterAll(() => context.close());

describe('the module of users and API keys', () => {
  it('handles commands, and exports who the admins are', async () => {
    const { commands, meta, module, types } = context;
    const { userId } = await commands.execute(
      new CreateUser({ email: 'a@example.com', name: 'A', role: 'admin', language: 'en' }, meta()),
    );
    expect(await module.get(AdminRegister, { strict: false }).active()).toEqual([userId]);
    await commands.execute(new CreateApiKey(userId, { name: 'K', ...EVERYTHING }, meta()));
    expect(types()).toEqual(expect.arrayContaining(['UserCreated', 'ApiKeyCreated']));
  });

  it('runs its policies', async () =>
    expect(await context.policies()).toEqual([
      'grant-agents-to-their-keys',
      'release-mail-addresses',
      'revoke-keys-of-deleted-users',
    ]));
});
