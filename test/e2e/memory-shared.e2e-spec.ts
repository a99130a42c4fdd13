import { randomUUID } from 'node:crypto';
import { CreateMemory } from '@app/memory';
import { CommandBus } from '@nestjs/cqrs';
import { CORE, type Memory, type MemoryWorld, startMemoryWorld } from './memory-world';

let world: MemoryWorld;
beforeAll(async () => {
  world = await startMemoryWorld({ environment: { MEMORY_SHARED_MAX: '6' } });
});
afterAll(() => world.platform.stop());

const propose = async (key: string, text: string): Promise<Memory> => {
  const { status, body } = await world.post(key, { text, kind: 'shared' });
  expect(status).toBe(201);
  return body;
};

describe('a proposed shared memory', () => {
  it('is seen by who proposed it alone, until they confirm it', async () => {
    const { platform, owner, editor, viewer, list, path, choose } = world;
    const proposal = await propose(viewer.key, 'Invoices go to Ada');
    expect(proposal).toMatchObject({ kind: 'shared', status: 'proposed', userId: viewer.userId });
    expect(Date.parse(String(proposal.expiresAt)) - Date.now()).toBeGreaterThan(29 * 86_400_000);
    for (const other of [owner, editor]) {
      expect(await list(other.key)).toEqual([]);
      expect((await platform.call(`${path()}/${proposal.id}`, { key: other.key })).status).toBe(404);
      for (const choice of ['confirm', 'save-for-me', 'discard'])
        expect((await choose(other.key, proposal.id, choice)).status).toBe(404);
    }
    const confirmed = await choose(viewer.key, proposal.id, 'confirm');
    expect([confirmed.status, confirmed.body]).toMatchObject([
      200,
      { id: proposal.id, kind: 'shared', status: 'saved', expiresAt: null, userId: viewer.userId },
    ]);
    for (const other of [owner, editor]) expect(await list(other.key)).toMatchObject([{ id: proposal.id }]);
    expect((await list(owner.key))[0]?.userId).toBe(viewer.userId);
    const { userId } = (await list(viewer.key)).find(({ id }) => id === proposal.id) as Memory;
    expect(userId).toBe(viewer.userId);
  });

  it('tells nobody else in which conversation it came up', async () => {
    const { platform, owner, editor, viewer, agentId, spaceId, list, choose } = world;
    const commandId = randomUUID();
    const source = { conversationId: randomUUID(), messageId: randomUUID() };
    const given = {
      agentId,
      spaceId,
      text: 'Parcels go to the yard',
      kind: 'shared',
      origin: 'agent',
      source,
    } as const;
    const meta = { commandId, correlationId: commandId, actor: 'system:test', now: new Date() };
    const { memoryId } = await platform.platform.app
      .get(CommandBus, { strict: false })
      .execute(new CreateMemory({ userId: viewer.userId, access: 'use' }, given, 'proposed', meta));
    expect((await choose(viewer.key, memoryId, 'confirm')).status).toBe(200);
    const seen = async (key: string) => (await list(key)).find(({ id }) => id === memoryId);
    expect(await seen(viewer.key)).toMatchObject({ source });
    for (const { key } of [owner, editor]) expect(await seen(key)).toMatchObject({ source: null });
    await platform.call(`${world.path()}/${memoryId}`, { method: 'DELETE', key: owner.key });
  });

  it('is saved for its user alone', async () => {
    const { owner, viewer, list, choose } = world;
    const proposal = await propose(viewer.key, 'I sit on the third floor');
    const saved = await choose(viewer.key, proposal.id, 'save-for-me');
    expect([saved.status, saved.body]).toMatchObject([200, { kind: 'personal', status: 'saved' }]);
    expect((await list(owner.key)).map(({ id }) => id)).not.toContain(proposal.id);
    expect((await list(viewer.key, '?kind=personal')).map(({ id }) => id)).toEqual([proposal.id]);
  });

  it('is shared with nobody by a user who lost the Agent meanwhile', async () => {
    const { platform, owner, spaceId, list, choose, path } = world;
    const member = await platform.newCaller();
    const membership = `${CORE}/spaces/${spaceId}/members/${member.userId}`;
    const as = (method: 'PUT' | 'DELETE') =>
      platform.call(membership, { method, key: owner.key, ...(method === 'PUT' && { body: { role: 'viewer' } }) });
    await as('PUT');
    const proposal = await propose(member.key, 'Parcels go to Mallory');
    const kept = await propose(member.key, 'I worked on the third floor');
    await as('DELETE');
    expect((await choose(member.key, proposal.id, 'confirm')).status).toBe(404);
    expect((await list(owner.key)).map(({ id }) => id)).not.toContain(proposal.id);
    expect((await list(member.key)).map(({ id }) => id)).toContain(proposal.id);
    const mine = await choose(member.key, kept.id, 'save-for-me');
    expect([mine.status, mine.body]).toMatchObject([200, { kind: 'personal' }]);
    await platform.call(path(), { method: 'DELETE', key: member.key });
  });

  it('is chosen once', async () => {
    const { viewer, choose, list } = world;
    const proposal = await propose(viewer.key, 'The office closes at six');
    const answers = await Promise.all(
      ['confirm', 'discard', 'save-for-me', 'confirm', 'discard'].map((choice) =>
        choose(viewer.key, proposal.id, choice),
      ),
    );
    expect(answers.map(({ status }) => status).filter((status) => status < 300)).toHaveLength(1);
    expect(
      answers.filter(({ status }) => status === 409).map(({ body }) => (body as never as { code: string }).code),
    ).toEqual(Array(4).fill('conflict'));
    for (const choice of ['confirm', 'discard', 'save-for-me'])
      expect((await choose(viewer.key, proposal.id, choice)).status).toBe(409);
    for (const { id, kind } of await list(viewer.key))
      if (id === proposal.id) await world.platform.call(`${world.path()}/${id}`, { method: 'DELETE', key: viewer.key });
      else expect(kind).toBeDefined();
  });

  it('answers the one that is there for an equal text, as a proposal and when it is confirmed', async () => {
    const { owner, viewer, post, choose, list } = world;
    const proposal = await propose(viewer.key, 'Meetings are on Monday');
    expect((await post(viewer.key, { text: 'meetings are on  monday', kind: 'shared' })).body.id).toBe(proposal.id);
    const other = await propose(owner.key, 'Meetings are on Monday');
    expect((await choose(owner.key, other.id, 'confirm')).status).toBe(200);
    const confirmed = await choose(viewer.key, proposal.id, 'confirm');
    expect([confirmed.status, confirmed.body.id]).toEqual([200, other.id]);
    expect(await list(viewer.key, '?status=proposed')).toEqual([]);
    expect((await post(viewer.key, { text: 'Meetings are on Monday', kind: 'shared' })).status).toBe(200);
  });
});

describe('a saved shared memory', () => {
  it('is changed by its author and by editors', async () => {
    const { platform, owner, editor, viewer, path, shared } = world;
    const ofViewer = await shared(viewer.key, 'Plants are watered on Friday');
    const ofOwner = await shared(owner.key, 'The printer is on floor two');
    const put = (id: string, key: string, text: string) =>
      platform.call<Memory>(`${path()}/${id}`, { method: 'PUT', key, body: { text } });
    expect((await put(ofViewer, viewer.key, 'Plants are watered on Thursday')).status).toBe(200);
    expect((await put(ofViewer, editor.key, 'Plants are watered on Tuesday')).status).toBe(200);
    const refused = await put(ofOwner, viewer.key, 'The printer is gone');
    expect([refused.status, refused.body]).toMatchObject([403, { code: 'forbidden' }]);
    expect((await platform.call(`${path()}/${ofOwner}`, { method: 'DELETE', key: viewer.key })).status).toBe(403);
    const shown = await platform.call<Memory>(`${path()}/${ofOwner}`, { key: viewer.key });
    expect([shown.body.userId, shown.text.includes(owner.userId)]).toEqual([null, false]);
    expect((await put(ofOwner, owner.key, 'Plants are watered on Tuesday')).body).toMatchObject({ code: 'conflict' });
    expect((await platform.call(`${path()}?kind=shared`, { method: 'DELETE', key: viewer.key })).status).toBe(403);
    expect((await platform.call(`${path()}?kind=shared`, { method: 'DELETE', key: editor.key })).status).toBe(204);
    for (const { key } of [owner, editor, viewer]) expect(await world.list(key, '?kind=shared')).toEqual([]);
  });

  it('takes the place of another, also where none is free', async () => {
    const { owner, viewer, shared, post, choose, list } = world;
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) ids.push(await shared(owner.key, `Rule ${n}`));
    const { id: full } = await propose(viewer.key, 'Rule seven');
    expect((await choose(viewer.key, full, 'confirm')).body).toMatchObject({ code: 'memory_full' });
    expect((await list(viewer.key, '?status=proposed')).map(({ id }) => id)).toEqual([full]);
    const foreign = await post(viewer.key, { text: 'Rule anew', kind: 'shared', replaces: ids[0] });
    expect(foreign.status).toBe(403);
    const { body } = await post(owner.key, { text: 'Rule anew', kind: 'shared', replaces: ids[0] });
    expect((await list(viewer.key)).map(({ id }) => id)).toContain(ids[0]);
    expect((await choose(owner.key, body.id, 'confirm')).status).toBe(200);
    expect((await list(viewer.key, '?kind=shared&status=saved')).map(({ id }) => id).toSorted()).toEqual(
      [...ids.slice(1), body.id].toSorted(),
    );
    await world.platform.call(`${world.path()}?kind=shared`, { method: 'DELETE', key: owner.key });
  });

  it('takes the place of another also where its text was shared meanwhile', async () => {
    const { owner, editor, shared, post, choose, list, path, platform } = world;
    const outdated = await shared(owner.key, 'The office is in Bern');
    const text = 'The office is in Basel';
    const { body } = await post(owner.key, { text, kind: 'shared', replaces: outdated });
    const there = await shared(editor.key, text);
    expect(await choose(owner.key, body.id, 'confirm')).toMatchObject({ status: 200, body: { id: there } });
    expect((await list(owner.key, '?kind=shared')).map(({ id }) => id)).toEqual([there]);
    await platform.call(`${path()}?kind=shared`, { method: 'DELETE', key: owner.key });
  });

  it('is confirmed also where the one that it was to replace is gone', async () => {
    const { owner, viewer, editor, shared, post, choose, list, path, platform } = world;
    const [first, second] = [await shared(viewer.key, 'Keys hang left'), await shared(viewer.key, 'Keys hang right')];
    const of = async (text: string, replaces: string) =>
      (await post(viewer.key, { text, kind: 'shared', replaces })).body.id;
    const [one, other] = [await of('Keys hang outside', first), await of('Keys lie in the drawer', second)];
    const anew = await post(editor.key, { text: 'Keys hang inside', kind: 'shared', replaces: first });
    expect((await choose(editor.key, anew.body.id, 'confirm')).status).toBe(200);
    expect((await platform.call(`${path()}/${second}`, { method: 'DELETE', key: owner.key })).status).toBe(204);
    for (const id of [one, other]) {
      const { status, body } = await choose(viewer.key, id, 'confirm');
      expect([status, body]).toMatchObject([200, { id, status: 'saved', kind: 'shared', replaces: null }]);
    }
    const texts = (await list(owner.key, '?kind=shared')).map(({ text }) => text);
    expect(texts.toSorted()).toEqual(['Keys hang inside', 'Keys hang outside', 'Keys lie in the drawer']);
    await platform.call(`${path()}?kind=shared`, { method: 'DELETE', key: owner.key });
  });
});
