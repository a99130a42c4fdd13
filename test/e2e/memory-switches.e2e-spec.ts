import { CORE, type Memory, type MemoryWorld, startMemoryWorld } from './memory-world';

let world: MemoryWorld;
beforeAll(async () => {
  world = await startMemoryWorld();
});
afterAll(() => world.platform.stop());

const change = (agentId: string, body: object) =>
  world.platform.call(`${CORE}/agents/${agentId}`, { method: 'PUT', key: world.owner.key, body });

describe('an Agent whose memory is switched off', () => {
  it.each([
    ['switched off', { memoryEnabled: false }],
    ['public', { public: { enabled: true } }],
  ])('keeps what it has, to be listed and deleted, and takes nothing new: %s', async (_, off) => {
    const { platform, owner, post, path, list, newAgent } = world;
    const agentId = await newAgent();
    const saved = (await post(owner.key, { text: 'I like tea' }, agentId)).body;
    const proposal = (await post(owner.key, { text: 'Tea is in the kitchen', kind: 'shared' }, agentId)).body;
    await change(agentId, off);
    for (const answer of [
      await post(owner.key, { text: 'I like milk' }, agentId),
      await post(owner.key, { text: 'Milk is in the fridge', kind: 'shared' }, agentId),
      await platform.call(`${path(agentId)}/${proposal.id}/confirm`, { method: 'POST', key: owner.key }),
      await platform.call(`${path(agentId)}/${proposal.id}/save-for-me`, { method: 'POST', key: owner.key }),
      await platform.call(`${path(agentId)}/${saved.id}`, { method: 'PUT', key: owner.key, body: { text: 'Milk' } }),
    ])
      expect([answer.status, answer.body]).toMatchObject([409, { code: 'memory_disabled' }]);
    expect((await list(owner.key, '', agentId)).map(({ id }) => id).toSorted()).toEqual(
      [saved.id, proposal.id].toSorted(),
    );
    expect((await platform.call(`${path(agentId)}/${saved.id}`, { method: 'DELETE', key: owner.key })).status).toBe(
      204,
    );
    const discarded = await platform.call(`${path(agentId)}/${proposal.id}/discard`, {
      method: 'POST',
      key: owner.key,
    });
    expect(discarded.status).toBe(204);
    expect(await list(owner.key, '', agentId)).toEqual([]);
  });

  it('shares none where sharing alone is off, and keeps personal ones', async () => {
    const { platform, owner, post, path, newAgent } = world;
    const agentId = await newAgent();
    const proposal = (await post(owner.key, { text: 'Tea is in the kitchen', kind: 'shared' }, agentId)).body;
    await change(agentId, { sharedMemoryEnabled: false });
    expect((await post(owner.key, { text: 'More', kind: 'shared' }, agentId)).body).toMatchObject({
      code: 'memory_disabled',
    });
    const confirm = await platform.call(`${path(agentId)}/${proposal.id}/confirm`, { method: 'POST', key: owner.key });
    expect(confirm.body).toMatchObject({ code: 'memory_disabled' });
    const mine = await platform.call<Memory>(`${path(agentId)}/${proposal.id}/save-for-me`, {
      method: 'POST',
      key: owner.key,
    });
    expect(mine.body).toMatchObject({ kind: 'personal', status: 'saved' });
    expect((await post(owner.key, { text: 'I like milk' }, agentId)).status).toBe(201);
  });
});

it('has personal memories alone where its Space, or the Agent itself, is private', async () => {
  const { platform, owner } = world;
  const { items } = (await platform.call<{ items: { id: string; isPersonal: boolean }[] }>(`${CORE}/agents`, owner))
    .body;
  const chat = items.find(({ isPersonal }) => isPersonal)?.id as string;
  const own = await platform.call<{ id: string }>(`${CORE}/agents`, {
    method: 'POST',
    key: owner.key,
    body: { name: 'Mine', sharedMemoryEnabled: true },
  });
  for (const agentId of [chat, own.body.id]) {
    const shared = await world.post(owner.key, { text: 'Tea is in the kitchen', kind: 'shared' }, agentId);
    expect([shared.status, shared.body]).toMatchObject([409, { code: 'conflict' }]);
    expect((await world.post(owner.key, { text: 'I like tea' }, agentId)).status).toBe(201);
  }
});
