import { DeleteSpace, promptDecider, spaceDecider, type SpaceRole } from '@app/spaces';
import {
  access,
  agent,
  agentId,
  caller,
  newSpace,
  owner,
  process,
  spaceId,
  tenancy,
  UNKNOWN,
  user,
  withAccess,
} from '../../../test/fixtures/accessed';

withAccess();

const member = async (role: SpaceRole) => {
  const userId = await user();
  await process.decisions.transact(spaceDecider, spaceId, { type: 'SetMember', userId, role }, tenancy.meta());
  return userId;
};

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
      { type: 'Create', spaceId, fields: { title: 'T', text: 'x', tags: [] } },
      tenancy.meta(),
    );
    await expect(access.prompt(caller(owner), spaceId, promptId, 'editor')).resolves.toBeUndefined();
    await expect(access.prompt(caller(owner), await newSpace('Other'), promptId, 'editor')).rejects.toMatchObject({
      code: 'not_found',
    });
    const viewer = caller(await member('viewer'));
    await expect(access.prompt(viewer, spaceId, promptId, 'viewer')).resolves.toBeUndefined();
    for (const [who, need, code] of [
      [viewer, 'editor', 'forbidden'],
      [caller(await user()), 'viewer', 'not_found'],
      [caller(await user(), { role: 'admin' }), 'viewer', 'forbidden'],
    ] as const)
      await expect(access.prompt(who, spaceId, promptId, need)).rejects.toMatchObject({ code });
  });

  it('is seen in the role of a member, by admins as by owners', async () => {
    const [viewer, admin] = [await member('viewer'), caller(await user(), { role: 'admin' })];
    expect(await access.roleSeen(caller(viewer), spaceId)).toBe('viewer');
    expect(await access.roleSeen(caller(await user()), spaceId)).toBeUndefined();
    expect([await access.roleSeen(admin, spaceId), await access.roleSeen(admin, UNKNOWN)]).toEqual([
      'owner',
      undefined,
    ]);
    await expect(access.assertMember(spaceId, viewer)).resolves.toBeUndefined();
    await expect(access.assertMember(spaceId, await user())).rejects.toMatchObject({ facts: { kind: 'member' } });
    await expect(access.assertUser(viewer)).resolves.toBeUndefined();
    await expect(access.assertUser(UNKNOWN)).rejects.toMatchObject({ facts: { kind: 'user' } });
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
    const person = await member('editor');
    const personal = await agent(spaceId, person);
    await expect(access.agent(caller(person), personal, 'edit')).resolves.toMatchObject({ agentId: personal });
    await expect(access.agent(caller(owner), personal, 'use')).rejects.toMatchObject({ code: 'not_found' });
  });
});
