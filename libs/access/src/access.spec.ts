import { agentDecider, defaultConfig } from '@app/agents';
import { apiKeyDecider, type ApiKeyFields, CreateUser, type Permission } from '@app/identity';
import { CreateSpace, DeleteSpace, promptDecider, spaceDecider, type SpaceRole } from '@app/spaces';
import { openTenancy, type Tenancy } from '../../../test/fixtures/tenancy';
import { Access } from './access';
import type { Caller } from './caller';
import { KeyScope } from './key-scope';

const UNKNOWN = '01900000-0000-7000-8000-00000000dead';

let tenancy: Tenancy;
let process: ReturnType<Tenancy['process']>;
let access: Access;
let scope: KeyScope;
let spaceId: string;
let agentId: string;
let owner: string;
beforeAll(async () => {
  tenancy = await openTenancy();
  process = tenancy.process();
  access = new Access(process.decisions);
  scope = new KeyScope(process.decisions, access);
  owner = await user();
  spaceId = await newSpace('Team');
  agentId = await agent(spaceId);
});
afterAll(() => tenancy.close());

const user = async () =>
  (
    await process.createUser.execute(
      new CreateUser(
        { email: `${tenancy.ids.next()}@example.com`, name: 'U', role: 'member', language: 'en' },
        tenancy.meta(),
      ),
    )
  ).userId;
const newSpace = async (name: string) =>
  (
    await process.createSpace.execute(
      new CreateSpace(owner, { name, description: '', color: '#000000' }, tenancy.meta()),
    )
  ).spaceId;
const agent = async (place: string, ownerId: string | null = null) => {
  const id = tenancy.ids.next();
  await process.decisions.transact(
    agentDecider,
    id,
    {
      type: 'Create',
      agentId: id,
      spaceId: place,
      isPersonal: ownerId !== null,
      automatic: false,
      ownerId,
      defaults: defaultConfig('A', 'm'),
      config: {},
    },
    tenancy.meta(),
  );
  return id;
};
const member = async (role: SpaceRole) => {
  const userId = await user();
  await process.decisions.transact(spaceDecider, spaceId, { type: 'SetMember', userId, role }, tenancy.meta());
  return userId;
};
const caller = (userId: string, given: Partial<Caller> = {}): Caller => ({
  actor: `user:${userId}`,
  userId,
  role: 'member',
  permissions: new Set<Permission>(['llm', 'keys:write']),
  agentIds: new Set(),
  allAgents: true,
  ...given,
});

describe('access to a Space', () => {
  it.each([
    ['viewer', ['viewer']],
    ['editor', ['viewer', 'editor']],
    ['owner', ['viewer', 'editor', 'owner']],
  ] as const)('of a %s reaches %j', async (role, reached) => {
    const who = caller(await member(role));
    for (const need of ['viewer', 'editor', 'owner'] as const) {
      for (const ask of [access.space(who, spaceId, need), access.content(who, spaceId, need)]) {
        if ((reached as readonly string[]).includes(need))
          await expect(ask).resolves.toEqual({ spaceId, kind: 'team', role, member: true });
        else await expect(ask).rejects.toMatchObject({ code: 'forbidden' });
      }
    }
  });

  it('does not exist for strangers, nor for anybody once it is deleted', async () => {
    for (const id of [spaceId, UNKNOWN])
      await expect(access.space(caller(await user()), id, 'viewer')).rejects.toMatchObject({ code: 'not_found' });
    const gone = await newSpace('Gone');
    await process.deleteSpace.execute(new DeleteSpace(gone, tenancy.meta()));
    await expect(access.space(caller(owner), gone, 'viewer')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('of admins reaches every team Space, but nothing inside, and no personal Space', async () => {
    const admin = caller(await user(), { role: 'admin' });
    await expect(access.space(admin, spaceId, 'owner')).resolves.toEqual({
      spaceId,
      kind: 'team',
      role: 'owner',
      member: false,
    });
    await expect(access.content(admin, spaceId, 'viewer')).rejects.toMatchObject({ code: 'forbidden' });
    const home = tenancy.ids.next();
    await process.decisions.transact(
      spaceDecider,
      home,
      {
        type: 'Create',
        spaceId: home,
        kind: 'personal',
        ownerId: owner,
        fields: { name: 'P', slug: 'p', description: '', color: '#000000' },
      },
      tenancy.meta(),
    );
    await expect(access.space(admin, home, 'viewer')).rejects.toMatchObject({ code: 'not_found' });
    await expect(access.space(caller(owner), home, 'owner')).resolves.toMatchObject({ kind: 'personal' });
  });

  it('ends with the membership, at the next request', async () => {
    const userId = await member('editor');
    await expect(access.space(caller(userId), spaceId, 'editor')).resolves.toBeDefined();
    await tenancy.process().decisions.transact(spaceDecider, spaceId, { type: 'RemoveMember', userId }, tenancy.meta());
    await expect(access.space(caller(userId), spaceId, 'viewer')).rejects.toMatchObject({ code: 'not_found' });
    await expect(access.agent(caller(userId), agentId, 'use')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('reaches the prompts of that Space only', async () => {
    const promptId = tenancy.ids.next();
    await process.decisions.transact(
      promptDecider,
      promptId,
      { type: 'Add', spaceId, fields: { title: 'T', text: 'x', tags: [] } },
      tenancy.meta(),
    );
    await expect(access.prompt(caller(owner), spaceId, promptId, 'editor')).resolves.toBeUndefined();
    await expect(access.prompt(caller(owner), await newSpace('Other'), promptId, 'editor')).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('access to an Agent', () => {
  it('is for members: viewers use it, editors change it', async () => {
    const viewer = caller(await member('viewer'));
    await expect(access.agent(viewer, agentId, 'use')).resolves.toMatchObject({ agentId, spaceId, role: 'viewer' });
    await expect(access.agent(viewer, agentId, 'edit')).rejects.toMatchObject({ code: 'forbidden' });
    await expect(access.agent(caller(await member('editor')), agentId, 'edit')).resolves.toBeDefined();
    await expect(access.agent(caller(await user(), { role: 'admin' }), agentId, 'use')).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('asks for the grant of a key first, and says the same of Agents that do not exist', async () => {
    const narrow = caller(owner, { allAgents: false, agentIds: new Set() });
    for (const id of [agentId, UNKNOWN])
      await expect(access.agent(narrow, id, 'use')).rejects.toMatchObject({ code: 'agent_not_granted', facts: {} });
    await expect(
      access.agent(caller(owner, { allAgents: false, agentIds: new Set([agentId]) }), agentId, 'use'),
    ).resolves.toBeDefined();
    await expect(
      access.agent(caller(owner, { allAgents: false, agentIds: new Set([UNKNOWN]) }), UNKNOWN, 'use'),
    ).rejects.toMatchObject({ code: 'not_found' });
  });

  it('of a person is theirs alone', async () => {
    const personal = await agent(spaceId, await member('editor'));
    await expect(access.agent(caller(owner), personal, 'use')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('what a key may be given', () => {
  const fields = (given: Partial<ApiKeyFields>): Partial<ApiKeyFields> => given;

  it('is no more than its user and its giver have', async () => {
    await expect(
      scope.demand(caller(owner), owner, fields({ permissions: ['llm'], agentIds: [agentId] })),
    ).resolves.toBeUndefined();
    await expect(scope.demand(caller(owner), owner, fields({ permissions: ['agents:read'] }))).rejects.toMatchObject({
      code: 'forbidden',
      facts: { path: 'permissions' },
    });
    const admin = caller(await user(), { role: 'admin', permissions: new Set<Permission>(['users:write', 'llm']) });
    await expect(scope.demand(admin, owner, fields({ permissions: ['users:write'] }))).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(
      scope.demand(caller(owner, { allAgents: false }), owner, fields({ allAgents: true })),
    ).rejects.toMatchObject({ code: 'forbidden', facts: { path: 'allAgents' } });
    await expect(scope.demand(admin, UNKNOWN, fields({}))).rejects.toMatchObject({ code: 'not_found' });
  });

  it('holds no Agent out of reach, unknown ones alike', async () => {
    const stranger = await user();
    for (const id of [agentId, UNKNOWN])
      await expect(scope.demand(caller(stranger), stranger, fields({ agentIds: [id] }))).rejects.toMatchObject({
        code: 'agent_not_granted',
      });
    await expect(
      scope.demand(caller(owner, { allAgents: false }), owner, fields({ agentIds: [agentId] })),
    ).rejects.toMatchObject({ code: 'agent_not_granted' });
  });

  it('lasts no longer and spends no more than the key that gives it', async () => {
    const keyId = tenancy.ids.next();
    const own: ApiKeyFields = {
      name: 'k',
      agentIds: [],
      allAgents: true,
      permissions: ['llm'],
      usageLimit: { amount: '5', window: 'day' },
      expiresAt: '2027-01-01T00:00:00.000Z',
    };
    await process.decisions.transact(
      apiKeyDecider,
      keyId,
      { type: 'Create', userId: owner, secret: { prefix: 'p', secretHash: 'h' }, fields: own },
      tenancy.meta(),
    );
    const giver = caller(owner, { keyId });
    const standing = await scope.key(giver, keyId);
    const within = { expiresAt: '2026-06-01T00:00:00.000Z', usageLimit: { amount: '4.999', window: 'day' } } as const;
    await expect(scope.demand(giver, owner, within, standing)).resolves.toBeUndefined();
    for (const expiresAt of [null, '2027-01-01T00:00:00.001Z'])
      await expect(scope.demand(giver, owner, { ...within, expiresAt }, standing)).rejects.toMatchObject({
        facts: { path: 'expiresAt' },
      });
    // Another time zone has another day, of which less may be spent by now.
    for (const usageLimit of [
      null,
      { amount: '5.000000001', window: 'day' },
      { amount: '1', window: 'month' },
      { amount: '5', window: 'day', timeZone: 'Pacific/Kiritimati' },
      { amount: '5', window: 'day', action: 'warn' },
    ] as const) {
      await expect(scope.demand(giver, owner, { ...within, usageLimit }, standing)).rejects.toMatchObject({
        facts: { path: 'usageLimit' },
      });
    }
    await expect(scope.demand(giver, owner, within)).rejects.toMatchObject({
      code: 'forbidden',
      facts: { path: 'usageLimit' },
    });
  });

  it('includes no more than whoever sets limits has said', async () => {
    const usageLimit = { amount: '5', window: 'day', includedAmount: '3' } as const;
    await expect(scope.demand(caller(owner), owner, fields({ usageLimit }))).rejects.toMatchObject({
      code: 'forbidden',
      facts: { path: 'usageLimit.includedAmount' },
    });
    const admin = caller(await user(), { role: 'admin', permissions: new Set<Permission>(['cost:write']) });
    await expect(scope.demand(admin, owner, fields({ usageLimit }))).resolves.toBeUndefined();
    const keyId = tenancy.ids.next();
    const given: ApiKeyFields = {
      name: 'k',
      agentIds: [],
      allAgents: true,
      permissions: ['llm'],
      usageLimit,
      expiresAt: null,
    };
    await process.decisions.transact(
      apiKeyDecider,
      keyId,
      { type: 'Create', userId: owner, secret: { prefix: 'p', secretHash: 'h' }, fields: given },
      tenancy.meta(),
    );
    const standing = await scope.key(caller(owner), keyId);
    await expect(
      scope.demand(caller(owner), owner, fields({ usageLimit: { ...usageLimit, amount: '4' } }), standing),
    ).resolves.toBeUndefined();
    await expect(
      scope.demand(caller(owner), owner, fields({ usageLimit: { ...usageLimit, includedAmount: '3.1' } }), standing),
    ).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('may keep what it has', async () => {
    const keyId = tenancy.ids.next();
    const wide: ApiKeyFields = {
      name: 'k',
      agentIds: [UNKNOWN],
      allAgents: true,
      permissions: ['agents:read'],
      usageLimit: null,
      expiresAt: null,
    };
    await process.decisions.transact(
      apiKeyDecider,
      keyId,
      { type: 'Create', userId: owner, secret: { prefix: 'p', secretHash: 'h' }, fields: wide },
      tenancy.meta(),
    );
    const standing = await scope.key(caller(owner), keyId);
    await expect(scope.demand(caller(owner, { allAgents: false }), owner, wide, standing)).resolves.toBeUndefined();
    await expect(scope.key(caller(await user()), keyId)).rejects.toMatchObject({ code: 'not_found' });
  });
});
