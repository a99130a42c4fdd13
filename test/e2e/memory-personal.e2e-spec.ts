import { CORE, MINE, type Memory, type MemoryWorld, startMemoryWorld } from './memory-world';

let world: MemoryWorld;
beforeAll(async () => {
  world = await startMemoryWorld({ environment: { MEMORY_PERSONAL_MAX: '3' } });
});
afterAll(() => world.platform.stop());

describe('a personal memory', () => {
  it('is saved, read, edited and deleted by its user', async () => {
    const { platform, owner, post, path, list, agentId } = world;
    const saved = await post(owner.key, { text: 'I prefer metric units' });
    expect(saved.status).toBe(201);
    expect(saved.body).toMatchObject({
      agentId,
      kind: 'personal',
      status: 'saved',
      text: 'I prefer metric units',
      origin: 'user',
      source: null,
      userId: owner.userId,
      expiresAt: null,
      revision: 0,
    });
    const one = `${path()}/${saved.body.id}`;
    expect(saved.headers['location']).toBe(one);
    expect((await platform.call(one, { key: owner.key })).body).toEqual(saved.body);
    const edited = await platform.call<Memory>(one, {
      method: 'PUT',
      key: owner.key,
      body: { text: 'I prefer imperial units' },
    });
    expect([edited.status, edited.body]).toMatchObject([200, { text: 'I prefer imperial units', revision: 1 }]);
    const nothing = { method: 'PUT', key: owner.key, body: {} } as const;
    expect((await platform.call(one, nothing)).body).toEqual(edited.body);
    expect((await platform.call(one, { ...nothing, headers: { 'if-match': '"0"' } })).status).toBe(412);
    expect((await list(owner.key)).map(({ text }) => text)).toEqual(['I prefer imperial units']);
    expect(await list(owner.key, '?q=metric')).toEqual([]);
    expect(await list(owner.key, '?q=IMPERIAL+prefer')).toHaveLength(1);
    expect((await platform.call(one, { method: 'DELETE', key: owner.key })).status).toBe(204);
    expect((await platform.call(one, { key: owner.key })).status).toBe(404);
    expect((await platform.call(one, { method: 'DELETE', key: owner.key })).status).toBe(404);
    expect(await list(owner.key)).toEqual([]);
  });

  it('is there once: an equal text answers the one that is there', async () => {
    const { editor, post, list } = world;
    const first = await post(editor.key, { text: 'I live in Bern' });
    const again = await post(editor.key, { text: '  i LIVE in\u00a0Bern ' });
    expect([again.status, again.body]).toEqual([200, first.body]);
    const racing = await Promise.all(Array.from({ length: 10 }, () => post(editor.key, { text: 'I have two cats' })));
    expect(new Set(racing.map(({ body }) => body.id)).size).toBe(1);
    expect(racing.map(({ status }) => status).toSorted()).toEqual([...Array<number>(9).fill(200), 201]);
    expect(await list(editor.key)).toHaveLength(2);
  });

  it('takes the place of another also where its text is there already: the outdated one is deleted', async () => {
    const { editor, post, list, newAgent } = world;
    const agentId = await newAgent();
    const old = (await post(editor.key, { text: 'I live in Bern' }, agentId)).body;
    const there = (await post(editor.key, { text: 'I live in Basel' }, agentId)).body;
    const again = await post(editor.key, { text: 'I live in BASEL', replaces: old.id }, agentId);
    expect([again.status, again.body]).toEqual([200, there]);
    expect((await list(editor.key, '', agentId)).map(({ id }) => id)).toEqual([there.id]);
    const itself = await post(editor.key, { text: 'I live in Basel', replaces: there.id }, agentId);
    expect(itself.status).toBe(201);
    expect((await list(editor.key, '', agentId)).map(({ id }) => id)).toEqual([itself.body.id]);
  });

  it('takes one of the places of its bucket, which others cannot take beside it', async () => {
    const { viewer, post, list, platform, path } = world;
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => post(viewer.key, { text: `Fact ${n}` })));
    const saved = answers.filter(({ status }) => status === 201);
    expect(saved).toHaveLength(3);
    const full = answers.filter(({ status }) => status === 409);
    expect(full).toHaveLength(17);
    expect(full[0]?.body).toMatchObject({ code: 'memory_full' });
    expect(await list(viewer.key)).toHaveLength(3);
    const replaced = await post(viewer.key, { text: 'Fact anew', replaces: saved[0]?.body.id });
    expect(replaced.status).toBe(201);
    expect((await list(viewer.key)).map(({ id }) => id)).not.toContain(saved[0]?.body.id);
    expect(await list(viewer.key)).toHaveLength(3);
    expect((await post(viewer.key, { text: 'One more' })).status).toBe(409);
    await platform.call(`${path()}/${replaced.body.id}`, { method: 'DELETE', key: viewer.key });
    expect((await post(viewer.key, { text: 'One more' })).status).toBe(201);
  });
});

describe('what Agents remember of a user', () => {
  it('is cleared for one Agent, and for all, also those that the user lost', async () => {
    const { platform, owner, viewer, post, list, path, newAgent, spaceId } = world;
    const other = await newAgent();
    await post(owner.key, { text: 'I like tea' });
    await post(owner.key, { text: 'I like tea' }, other);
    await post(viewer.key, { text: 'I like tea' }, other);
    const mine = async (key: string) => (await platform.call<{ items: Memory[] }>(MINE, { key })).body.items;
    expect(await mine(owner.key)).toHaveLength(2);
    expect((await platform.call(path(), { method: 'DELETE', key: owner.key })).status).toBe(204);
    expect(await list(owner.key)).toEqual([]);
    expect(await mine(owner.key)).toHaveLength(1);

    await platform.call(`${CORE}/spaces/${spaceId}/members/${viewer.userId}`, { method: 'DELETE', key: owner.key });
    const [lost] = await list(viewer.key, '', other);
    expect(lost).toMatchObject({ text: 'I like tea' });
    expect((await post(viewer.key, { text: 'Another' }, other)).status).toBe(404);
    const edited = await platform.call<Memory>(`${path(other)}/${lost?.id}`, {
      method: 'PUT',
      key: viewer.key,
      body: { text: 'I like coffee' },
    });
    expect([edited.status, edited.body.text]).toEqual([200, 'I like coffee']);
    expect(
      (await platform.call(`${path(other)}/${lost?.id}`, { method: 'PUT', key: owner.key, body: { text: 'x' } }))
        .status,
    ).toBe(404);
    expect((await platform.call(`${path(other)}/${lost?.id}`, { method: 'DELETE', key: viewer.key })).status).toBe(204);
    expect((await platform.call(path(other), { key: viewer.key })).status).toBe(404);
    expect((await platform.call(MINE, { method: 'DELETE', key: viewer.key })).status).toBe(204);
    expect(await mine(viewer.key)).toEqual([]);
    expect(await mine(owner.key)).toHaveLength(1);
  });
});
