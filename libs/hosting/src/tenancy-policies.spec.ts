import {
  agentDecider,
  CreatePersonalAgentHandler,
  defaultConfig,
  DeleteAgentsWithTheirSpace,
  MakeAChatAgentInEachPersonalSpace,
  personalAgentOf,
} from '@app/agents';
import {
  apiKeyDecider,
  CreateUser,
  DeleteUser,
  GrantAgentsToTheirKeys,
  ReleaseMailAddresses,
  UpdateUser,
} from '@app/identity';
import { EventCodec, type RecordedEvent } from '@app/kernel';
import { DeletionWithOwner, type Policy } from '@app/projecting';
import {
  CreatePersonalSpaceHandler,
  CreateSpace,
  DeleteSpace,
  DeletePromptsWithTheirSpace,
  ForgetMembersWhoAreGone,
  KeepAPersonalSpaceForEachUser,
  personalSpaceOf,
  promptDecider,
  spaceDecider,
} from '@app/spaces';
import { openTenancy, type Tenancy } from '../../../test/fixtures/tenancy';
import { eventCatalogue } from './aggregates';

let tenancy: Tenancy;
let process: ReturnType<Tenancy['process']>;
beforeAll(async () => {
  tenancy = await openTenancy();
  process = tenancy.process();
});
afterAll(() => tenancy.close());

const noKeys = {
  ensureKey: () => Promise.reject(new Error('no key is made here')),
  keys: async () => new Map<string, Buffer>(),
};

/** The last event of a stream, as a policy reads it. */
const lastOf = async (stream: string): Promise<RecordedEvent> => {
  const [event] = await new EventCodec(eventCatalogue, noKeys).decode(
    await tenancy.log.readStream(stream, { direction: 'backwards', limit: 1 }),
  );
  if (event === undefined) throw new Error(`${stream} is empty`);
  return event;
};
const spaceStatus = async (id: string) => (await process.decisions.load(spaceDecider, id)).state.status;
const agentStatus = async (id: string) => (await process.decisions.load(agentDecider, id)).state.status;
const promptStatus = async (id: string) => (await process.decisions.load(promptDecider, id)).state.status;
const parts = () => [process.decisions, tenancy.log, tenancy.clock] as const;
const deletion = () => new DeletionWithOwner(tenancy.log, tenancy.clock);
const user = async () =>
  (
    await process.createUser.execute(
      new CreateUser(
        { email: `${tenancy.ids.next()}@example.com`, name: 'U', role: 'member', language: 'en' },
        tenancy.meta(),
      ),
    )
  ).userId;
const removeUser = (userId: string) => process.deleteUser.execute(new DeleteUser(userId, tenancy.meta()));
const space = async () =>
  (
    await process.createSpace.execute(
      new CreateSpace(await user(), { name: tenancy.ids.next(), description: '', color: '#000000' }, tenancy.meta()),
    )
  ).spaceId;
const removeSpace = (spaceId: string) => process.deleteSpace.execute(new DeleteSpace(spaceId, tenancy.meta()));
const agent = async (spaceId: string, actor = 'user:u1') => {
  const agentId = tenancy.ids.next();
  const command = {
    type: 'Create',
    agentId,
    spaceId,
    isPersonal: false,
    automatic: false,
    ownerId: null,
    defaults: defaultConfig('A', 'm'),
    config: {},
  } as const;
  await process.decisions.transact(agentDecider, agentId, command, tenancy.meta({ actor }));
  return agentId;
};

/** Hands an event over twice, as may happen after a crash: the second time changes nothing. */
const reactTwice = async (policy: Pick<Policy, 'react'>, event: RecordedEvent): Promise<void> => {
  await policy.react(event);
  const after = (await tenancy.log.readAll()).events.length;
  await policy.react(event);
  expect((await tenancy.log.readAll()).events.length).toBe(after);
};

describe('a personal Space', () => {
  const policy = () => new KeepAPersonalSpaceForEachUser(...parts(), new CreatePersonalSpaceHandler(process.decisions));

  it('comes and goes with its user', async () => {
    const userId = await user();
    const created = await lastOf(`user-${userId}`);
    await reactTwice(policy(), created);
    expect(await spaceStatus(personalSpaceOf(userId))).toBe('present');
    await removeUser(userId);
    await reactTwice(policy(), await lastOf(`user-${userId}`));
    expect(await spaceStatus(personalSpaceOf(userId))).toBe('deleted');
    await reactTwice(policy(), created);
    expect(await spaceStatus(personalSpaceOf(userId))).toBe('deleted');
  });

  it('does not stay when it is made while its user is being deleted', async () => {
    const userId = await user();
    const created = await lastOf(`user-${userId}`);
    await removeUser(userId);
    await policy().react(await lastOf(`user-${userId}`));
    await policy().react(created);
    await reactTwice(policy(), await lastOf(`space-${personalSpaceOf(userId)}`));
    expect(await spaceStatus(personalSpaceOf(userId))).toBe('deleted');
  });

  it('gets one chat Agent', async () => {
    const userId = await user();
    await policy().react(await lastOf(`user-${userId}`));
    const makeAgents = new MakeAChatAgentInEachPersonalSpace(
      new CreatePersonalAgentHandler(process.decisions, { defaultModel: 'm', isChatModel: () => true }),
      tenancy.clock,
    );
    await reactTwice(makeAgents, await lastOf(`space-${personalSpaceOf(userId)}`));
    expect((await process.decisions.load(agentDecider, personalAgentOf(personalSpaceOf(userId)))).state).toMatchObject({
      status: 'present',
      isPersonal: true,
      automatic: true,
      ownerId: userId,
    });
  });
});

describe('what is in a deleted Space', () => {
  it('is deleted with it: Agents that were there, and one that comes late', async () => {
    const spaceId = await space();
    const [present, late] = [await agent(spaceId), await agent(spaceId)];
    await removeSpace(spaceId);
    const policy = new DeleteAgentsWithTheirSpace(process.decisions, deletion(), async (of) =>
      of === spaceId ? [present] : [],
    );
    await reactTwice(policy, await lastOf(`space-${spaceId}`));
    expect(await agentStatus(present)).toBe('deleted');
    await reactTwice(policy, await lastOf(`agent-${late}`));
    expect(await agentStatus(late)).toBe('deleted');
  });

  it('is deleted with it: prompts', async () => {
    const spaceId = await space();
    const [present, late] = [tenancy.ids.next(), tenancy.ids.next()];
    for (const id of [present, late])
      await process.decisions.transact(
        promptDecider,
        id,
        { type: 'Create', spaceId, fields: { title: 'T', text: 'x', tags: [] } },
        tenancy.meta(),
      );
    await removeSpace(spaceId);
    const policy = new DeletePromptsWithTheirSpace(process.decisions, deletion(), async () => [present]);
    await reactTwice(policy, await lastOf(`space-${spaceId}`));
    await reactTwice(policy, await lastOf(`prompt-${late}`));
    for (const id of [present, late]) expect(await promptStatus(id)).toBe('deleted');
  });

  it('stays while the Space does', async () => {
    const spaceId = await space();
    const agentId = await agent(spaceId);
    await reactTwice(
      new DeleteAgentsWithTheirSpace(process.decisions, deletion(), async () => []),
      await lastOf(`agent-${agentId}`),
    );
    expect(await agentStatus(agentId)).toBe('present');
  });
});

describe('a deleted user', () => {
  it('is forgotten as a member, also where they become one late', async () => {
    const [spaceId, otherId] = [await space(), await space()];
    const userId = await user();
    for (const id of [spaceId, otherId])
      await process.decisions.transact(spaceDecider, id, { type: 'SetMember', userId, role: 'viewer' }, tenancy.meta());
    await removeUser(userId);
    const policy = new ForgetMembersWhoAreGone(...parts(), async () => [spaceId]);
    await reactTwice(policy, await lastOf(`user-${userId}`));
    await reactTwice(policy, await lastOf(`space-${otherId}`));
    for (const id of [spaceId, otherId])
      expect((await process.decisions.load(spaceDecider, id)).state).not.toMatchObject({
        members: expect.objectContaining({ size: 2 }),
      });
  });
});

describe('a mail address that a user gave up, whose command died before it could release it', () => {
  const register = (email: string) =>
    process.createUser.execute(new CreateUser({ email, name: 'U', role: 'member', language: 'en' }, tenancy.meta()));
  const dying = () =>
    tenancy.process((_, types) => {
      if (types.includes('NameReleased')) throw new Error('the process died');
    });

  it.each([
    ['deleted', (userId: string) => dying().deleteUser.execute(new DeleteUser(userId, tenancy.meta()))],
    [
      'moved to another address',
      (userId: string) =>
        dying().updateUser.execute(
          new UpdateUser(userId, { email: `${tenancy.ids.next()}@example.com` }, undefined, tenancy.meta()),
        ),
    ],
  ])('is free for others once the user was %s', async (_, giveUp) => {
    const email = `${tenancy.ids.next()}@example.com`;
    const { userId } = await register(email);
    await expect(giveUp(userId)).rejects.toThrow('the process died');
    await expect(register(email)).rejects.toMatchObject({ code: 'name_taken' });
    const policy = new ReleaseMailAddresses(process.reservations, tenancy.clock);
    await reactTwice(policy, await lastOf(`user-${userId}`));
    await expect(register(email)).resolves.toMatchObject({ receipt: { repeated: false } });
  });
});

describe('an Agent created with a key', () => {
  const key = async () => {
    const keyId = tenancy.ids.next();
    const fields = { name: 'k', agentIds: [], allAgents: false, permissions: [], usageLimit: null, expiresAt: null };
    await process.decisions.transact(
      apiKeyDecider,
      keyId,
      { type: 'Create', userId: await user(), secret: { prefix: 'p', secretHash: 'h' }, fields },
      tenancy.meta(),
    );
    return keyId;
  };

  it('is granted to it, unless it was revoked', async () => {
    const policy = new GrantAgentsToTheirKeys(process.decisions, tenancy.clock);
    const spaceId = await space();
    const [valid, revoked] = [await key(), await key()];
    await process.decisions.transact(apiKeyDecider, revoked, { type: 'Revoke' }, tenancy.meta());
    const agentId = await agent(spaceId, `key:${valid}`);
    await reactTwice(policy, await lastOf(`agent-${agentId}`));
    expect((await process.decisions.load(apiKeyDecider, valid)).state).toMatchObject({ agentIds: new Set([agentId]) });
    await reactTwice(policy, await lastOf(`agent-${await agent(spaceId, `key:${revoked}`)}`));
    await reactTwice(policy, await lastOf(`agent-${await agent(spaceId)}`));
  });
});
