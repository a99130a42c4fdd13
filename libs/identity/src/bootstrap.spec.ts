import { openTenancy, type Tenancy } from '../../../test/fixtures/tenancy';
import { apiKeyDecider } from './api-key/api-key.decider';
import type { Permission } from './api-key/permissions';
import { bootstrap, BOOTSTRAP_KEY_ID, EVERYTHING } from './bootstrap';

let tenancy: Tenancy;
beforeEach(async () => (tenancy = await openTenancy()));
afterEach(() => tenancy.close());

const LATER: readonly Permission[] = ['skills:read', 'skills:write', 'memory:read', 'memory:write'];
const EARLIER = EVERYTHING.permissions.filter((permission) => !LATER.includes(permission));

/** What the bootstrap key may do at the next start, where it might do that much before. */
const atTheNextStart = async (
  permissions: readonly Permission[],
  isRevoked = false,
): Promise<readonly Permission[]> => {
  const { clock, ids, secret } = tenancy;
  const process = tenancy.process();
  const start = () => bootstrap({ ...process, commands: process.createUser, secret, clock, ids }, undefined);
  await start();
  const key = [apiKeyDecider, BOOTSTRAP_KEY_ID] as const;
  await process.decisions.transact(...key, { type: 'Update', fields: { permissions } }, tenancy.meta());
  if (isRevoked) await process.decisions.transact(...key, { type: 'Revoke' }, tenancy.meta());
  await start();
  const { state } = await process.decisions.load(...key);
  return state.status === 'absent' ? [] : [...state.permissions];
};

describe('a bootstrap key of an earlier release', () => {
  it('may do all that there is if it might do all that there was', async () => {
    expect(await atTheNextStart(EARLIER)).toEqual(EVERYTHING.permissions);
  });

  it('stays as it is if it was cut down, or given some of what came later', async () => {
    expect(await atTheNextStart(EARLIER.slice(1))).toEqual(EARLIER.slice(1));
    expect(await atTheNextStart([...EARLIER, 'skills:read'])).toEqual([...EARLIER, 'skills:read']);
  });

  it('stays as it is if it was revoked', async () => {
    expect(await atTheNextStart(EARLIER, true)).toEqual(EARLIER);
  });
});
