import { CreateMemory, memoryDecider } from '@app/memory';
import { deriveId } from '@app/kernel';
import { CommandBus } from '@nestjs/cqrs';
import { wordsUnder } from '../fixtures/files-under';
import { until } from '../fixtures/until';
import { CORE, MINE, type Memory, type MemoryWorld, startMemoryWorld } from './memory-world';

let world: MemoryWorld;
beforeAll(async () => {
  world = await startMemoryWorld();
});
afterAll(() => world.platform.stop());

interface Events {
  readonly items: readonly { readonly stream: string; readonly data: Readonly<Record<string, unknown>> }[];
}
const receipts = async (ids: readonly string[]): Promise<number> => {
  const { body } = await world.platform.call<Events>(
    '/api/v1/audit/events?category=erasure&type=ContentErased&limit=100&order=desc',
  );
  return ids.filter((id) => body.items.some(({ data }) => data['stream'] === `memory-${id}`)).length;
};
/** Waits for the receipts of memories, at most the ten seconds that an erasure may take. */
const erased = (ids: readonly string[]) =>
  until(async () => (await receipts(ids)) === ids.length, 'the receipts', { patience: 10_000 });
const onDisk = (word: string): boolean => wordsUnder(world.platform.dataDir, [word]).length > 0;
const isGone = async (id: string): Promise<boolean> => {
  const { state } = await world.platform.platform.host.stores.decisions.load(memoryDecider, id);
  return state.status !== 'saved' && state.status !== 'proposed';
};
const remove = (path: string, key?: string) =>
  world.platform.call(path, { method: 'DELETE', ...(key === undefined ? {} : { key }) });

describe('a deleted memory', () => {
  it('is erased with a receipt: no file has a word of it', async () => {
    const { owner, post, path } = world;
    const { body } = await post(owner.key, { text: 'My boat is called Quintavelle' });
    expect((await remove(`${path()}/${body.id}`, owner.key)).status).toBe(204);
    await erased([body.id]);
    expect(onDisk('quintavelle')).toBe(false);
  });

  it('is erased as a proposal that is discarded', async () => {
    const { owner, post, choose } = world;
    const { body } = await post(owner.key, { text: 'The vault is called Brandolith', kind: 'shared' });
    expect((await choose(owner.key, body.id, 'discard')).status).toBe(204);
    await erased([body.id]);
    expect(onDisk('brandolith')).toBe(false);
  });

  it('is erased as what another one takes the place of', async () => {
    const { owner, post } = world;
    const { body: old } = await post(owner.key, { text: 'My cat is called Mirabolt' });
    await post(owner.key, { text: 'My cat is called Fennimore', replaces: old.id });
    await erased([old.id]);
    expect(onDisk('mirabolt')).toBe(false);
  });
});

describe('memories go', () => {
  it('with their Agent', async () => {
    const { owner, viewer, newAgent, post, path, platform } = world;
    const agentId = await newAgent();
    const mine = (await post(owner.key, { text: 'I like tea' }, agentId)).body.id;
    const theirs = (await post(viewer.key, { text: 'I like milk' }, agentId)).body.id;
    const open = (await post(viewer.key, { text: 'Milk is out', kind: 'shared' }, agentId)).body.id;
    const shared = (await post(owner.key, { text: 'Tea is out', kind: 'shared' }, agentId)).body.id;
    await platform.call(`${path(agentId)}/${shared}/confirm`, { method: 'POST', key: owner.key });
    await remove(`${CORE}/agents/${agentId}`, owner.key);
    await erased([mine, theirs, open, shared]);
    expect((await platform.call<{ items: Memory[] }>(MINE, { key: viewer.key })).body.items).toEqual([]);
  });

  it('with their Space', async () => {
    const { owner, platform } = world;
    const space = await platform.call<{ id: string }>(`${CORE}/spaces`, {
      method: 'POST',
      key: owner.key,
      body: { name: 'Brief' },
    });
    const agentId = await world.newAgent({ spaceId: space.body.id });
    const { body } = await world.post(owner.key, { text: 'I like cocoa' }, agentId);
    await remove(`${CORE}/spaces/${space.body.id}`, owner.key);
    await until(() => isGone(body.id), 'the end of the memory', { patience: 10_000 });
    await until(() => !onDisk('cocoa'), 'the erasure', { patience: 10_000 });
  });

  it('with their user; a shared one outlives who proposed it', async () => {
    const { platform, owner, spaceId, post, list, choose } = world;
    const brief = await platform.newCaller();
    await platform.call(`${CORE}/spaces/${spaceId}/members/${brief.userId}`, {
      method: 'PUT',
      key: owner.key,
      body: { role: 'viewer' },
    });
    const mine = (await post(brief.key, { text: 'I like lemonade' })).body.id;
    const open = (await post(brief.key, { text: 'Lemonade is out', kind: 'shared' })).body.id;
    const forMe = (await post(brief.key, { text: 'Lemonade is mine', kind: 'shared' })).body.id;
    await choose(brief.key, forMe, 'save-for-me');
    const shared = await world.shared(brief.key, 'The fridge is on floor two');
    expect((await remove(`${CORE}/users/${brief.userId}`)).status).toBe(204);
    await until(async () => (await Promise.all([mine, open, forMe].map(isGone))).every(Boolean), 'their end', {
      patience: 10_000,
    });
    await until(() => !onDisk('lemonade'), 'the erasure', { patience: 10_000 });
    expect((await list(owner.key)).find(({ id }) => id === shared)).toMatchObject({
      text: 'The fridge is on floor two',
    });
  });
});

describe('clearing', () => {
  it('deletes the others where one cannot be deleted, and names that one', async () => {
    const { platform, owner, post, list, shared, newAgent } = world;
    const agentId = await newAgent();
    const stuck: string[] = [];
    for (let n = 0; n < 4; n += 1) await post(owner.key, { text: `I like colour ${n}` }, agentId);
    const proposal = await post(owner.key, { text: 'Colours are mixed', kind: 'shared' }, agentId);
    stuck.push((await list(owner.key, '?kind=personal', agentId))[3]?.id ?? '', proposal.body.id);
    const rule = await shared(owner.key, 'Paint dries outside');
    const { decisions } = platform.platform.host.stores;
    const transact = decisions.transact.bind(decisions);
    const failing = jest.spyOn(decisions, 'transact').mockImplementation((decider, id, ...given) => {
      if (stuck.includes(id)) throw new Error('it cannot be deleted');
      return transact(decider, id, ...given);
    });
    const cleared = await platform.call<{ detail: string; errors: { path: string; code: string }[] }>(
      world.path(agentId),
      { method: 'DELETE', key: owner.key },
    );
    expect([cleared.status, cleared.body.detail]).toEqual([500, expect.stringContaining('2 of 5 failed')]);
    expect(cleared.body.errors.map(({ path }) => path).toSorted()).toEqual(stuck.toSorted());
    const left = async () =>
      (await list(owner.key, '', agentId))
        .map(({ id }) => id)
        .toSorted()
        .join();
    await until(async () => (await left()) === stuck.toSorted().join(), 'the others to be gone');
    stuck.push((await post(owner.key, { text: 'Paint is wet', kind: 'shared' })).body.id);
    const ofAgent = await platform.call(`${world.path()}?kind=shared`, { method: 'DELETE', key: owner.key });
    expect([ofAgent.status, ofAgent.text]).toEqual([500, expect.stringContaining(stuck[2] ?? '')]);
    const isThere = async () => (await list(owner.key, '?kind=shared')).some(({ id }) => id === rule);
    await until(async () => !(await isThere()), 'the shared one to be gone');
    failing.mockRestore();
    for (const path of [world.path(agentId), world.path()]) expect((await remove(path, owner.key)).status).toBe(204);
    expect(await list(owner.key, '', agentId)).toEqual([]);
  });
});

describe('the conversation that a memory came from', () => {
  const asked = async (n: number) => {
    const { platform, owner, agentId } = world;
    const turn = await platform.call<{ conversationId: string; message: { id: string } }>(
      `${CORE}/llm/${agentId}/conversation`,
      { method: 'POST', key: owner.key, body: { message: `I like number ${n}` } },
    );
    return { conversationId: turn.body.conversationId, messageId: turn.body.message.id };
  };
  const learn = async (n: number, source: Awaited<ReturnType<typeof asked>>) => {
    const { platform, owner, agentId, spaceId } = world;
    const commandId = deriveId(source.conversationId, `learned/${n}`);
    const given = { agentId, spaceId, text: `I like number ${n}`, kind: 'personal', origin: 'user', source } as const;
    const meta = { commandId, correlationId: commandId, actor: 'system:test', now: new Date() };
    const { memoryId } = await platform.platform.app
      .get(CommandBus, { strict: false })
      .execute(new CreateMemory({ userId: owner.userId, access: 'use' }, given, 'saved', meta));
    return memoryId;
  };
  const learned = async (n: number) => {
    const source = await asked(n);
    return { conversationId: source.conversationId, memoryId: await learn(n, source) };
  };

  it('leaves it there when it is deleted, or takes it along', async () => {
    const { platform, owner, agentId } = world;
    const path = (id: string) => `${CORE}/llm/${agentId}/conversation/${id}`;
    const [kept, taken] = [await learned(1), await learned(2)];
    expect((await remove(path(kept.conversationId), owner.key)).status).toBe(204);
    expect((await remove(`${path(taken.conversationId)}?memories=maybe`, owner.key)).status).toBe(400);
    expect((await remove(`${path(taken.conversationId)}?memories=true`, owner.key)).status).toBe(204);
    await erased([taken.memoryId]);
    const { body } = await platform.call(`${world.path()}/${kept.memoryId}`, { key: owner.key });
    expect(body).toMatchObject({ source: { conversationId: kept.conversationId } });
    expect((await platform.call(`${world.path()}/${taken.memoryId}`, { key: owner.key })).status).toBe(404);
  });

  it('takes it along also where it was learned just before the deletion, and the request died with that', async () => {
    const { platform, owner, agentId } = world;
    const source = await asked(3);
    const { decisions } = platform.platform.host.stores;
    const transact = decisions.transact.bind(decisions);
    let memoryId = '';
    const dying = jest.spyOn(decisions, 'transact').mockImplementation(async (decider, id, ...given) => {
      if (id !== source.conversationId) return transact(decider, id, ...given);
      memoryId = await learn(3, source);
      await transact(decider, id, ...given);
      throw new Error('the process is gone');
    });
    const path = `${CORE}/llm/${agentId}/conversation/${source.conversationId}?memories=true`;
    expect((await remove(path, owner.key)).status).toBe(500);
    dying.mockRestore();
    await until(() => isGone(memoryId), 'the end of the memory', { patience: 10_000 });
  });
});

describe('auditors', () => {
  it('see a memory as of any time, and its text with the permission for it', async () => {
    const { platform, owner, post, path } = world;
    const auditor = await platform.newCaller({ role: 'auditor', permissions: ['audit:read'] });
    const { body } = await post(owner.key, { text: 'I like the Grumblewort' });
    const one = `${path()}/${body.id}`;
    await platform.call(one, { method: 'PUT', key: owner.key, body: { text: 'I like the Fizzlebush' } });
    const now = (await platform.call(one, { key: owner.key })).body;
    const audited = `/api/v1/audit/objects/memory/${body.id}`;
    expect((await platform.call(audited)).body).toEqual(now);
    expect((await platform.call(`${audited}?revision=0`)).body).toMatchObject({ text: 'I like the Grumblewort' });
    const hidden = await platform.call(audited, { key: auditor.key });
    expect(hidden.body).toMatchObject({ id: body.id, text: { encrypted: true } });
    await remove(one, owner.key);
    await erased([body.id]);
    expect((await platform.call(`${audited}?revision=1`)).body).toMatchObject({ text: { erased: true } });
    expect((await platform.call(`${audited}/history`)).text).not.toContain('Fizzlebush');
  });
});
