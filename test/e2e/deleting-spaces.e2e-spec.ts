import { until } from '../fixtures/until';
import { alice, bob, create, platform, setMember, type Space, SPACES, withSpaces } from './spaces-world';

withSpaces();

describe('a prompt library', () => {
  it('adds, changes, lists and deletes prompts', async () => {
    const { body: space } = await create('Library');
    const path = `${SPACES}/${space.id}/prompts`;
    const added = await platform.call<{ id: string }>(path, {
      key: alice.key,
      method: 'POST',
      body: { title: 'Greeting', text: 'Hello', tags: ['a'] },
    });
    expect([added.status, added.body]).toMatchObject([
      201,
      { title: 'Greeting', text: 'Hello', tags: ['a'], revision: 0 },
    ]);
    expect(
      (await platform.call(`${path}/${added.body.id}`, { key: alice.key, method: 'PUT', body: { text: 'Good day' } }))
        .body,
    ).toMatchObject({ title: 'Greeting', text: 'Good day', revision: 1 });
    expect((await platform.call<{ items: unknown[] }>(path, { key: alice.key })).body.items).toHaveLength(1);
    expect((await platform.call(`${path}/${added.body.id}`, { key: alice.key, method: 'DELETE' })).status).toBe(204);
    expect((await platform.call(`${path}/${added.body.id}`, { key: alice.key })).status).toBe(404);
  });
});

describe('deleting a Space', () => {
  it('removes its Agents and prompts, also one that is created meanwhile', async () => {
    const { body: space } = await create('Doomed');
    const agents = await Promise.all(
      Array.from({ length: 3 }, (_, n) =>
        platform.call<{ id: string }>('/api/v1/core/agents', {
          key: alice.key,
          method: 'POST',
          body: { spaceId: space.id, name: `A${n}` },
        }),
      ),
    );
    const prompt = await platform.call<{ id: string }>(`${SPACES}/${space.id}/prompts`, {
      key: alice.key,
      method: 'POST',
      body: { title: 'T', text: 'x' },
    });
    const [deleted, ...late] = await Promise.all([
      platform.call(`${SPACES}/${space.id}`, { key: alice.key, method: 'DELETE' }),
      ...Array.from({ length: 3 }, (_, n) =>
        platform.call<{ id: string }>('/api/v1/core/agents', {
          key: alice.key,
          method: 'POST',
          body: { spaceId: space.id, name: `B${n}` },
        }),
      ),
    ]);
    expect(deleted.status).toBe(204);
    const ids = [...agents, ...late.filter(({ status }) => status === 201)].map(
      ({ body }) => (body as { id: string }).id,
    );
    for (const id of ids)
      expect((await platform.call(`/api/v1/core/agents/${id}`, { key: alice.key })).status).toBe(404);
    const { readStore } = platform.platform.host.stores;
    await until(
      async () =>
        (await readStore.getMany('agents', ids)).length === 0 &&
        (await readStore.get('prompts', prompt.body.id)) === undefined,
      'the end of what was inside',
    );
  });

  it('removes the others where one of what was inside cannot be removed', async () => {
    const { body: space } = await create('Stuck');
    const post = async (path: string, body: object): Promise<string> => {
      const {
        status,
        text,
        body: made,
      } = await platform.call<{ id: string; conversationId: string }>(`/api/v1/core${path}`, {
        key: alice.key,
        method: 'POST',
        body,
      });
      if (status >= 300) throw new Error(text);
      return made.id ?? made.conversationId;
    };
    const two = (make: (n: number) => Promise<string>) => Promise.all([make(1), make(2)]);
    const texts = { description: 'Use it.', instructions: 'Do it.' };
    const agents = await two((n) => post('/agents', { spaceId: space.id, name: `A${n}` }));
    const inside: Record<string, readonly string[]> = {
      agent: agents,
      prompt: await two((n) => post(`/spaces/${space.id}/prompts`, { title: `T${n}`, text: 'x' })),
      skill: await two((n) => post('/skills', { scope: 'space', spaceId: space.id, name: `S${n}`, ...texts })),
      conversation: await two((n) => post(`/llm/${agents[0]}/conversation`, { message: `Hello ${n}` })),
    };
    const { decisions } = platform.platform.host.stores;
    const transact = decisions.transact.bind(decisions);
    const stuck = new Map<string, string>();
    const gone = new Set<string>();
    const failing = jest.spyOn(decisions, 'transact').mockImplementation(async (decider, id, command, meta) => {
      const isInside =
        inside[decider.category]?.includes(id) === true &&
        ['Delete', 'Remove'].includes((command as { type: string }).type);
      if (isInside && !stuck.has(decider.category)) stuck.set(decider.category, id);
      if (isInside && stuck.get(decider.category) === id) throw new Error('it cannot be removed');
      const receipt = await transact(decider, id, command, meta);
      if (isInside) gone.add(id);
      return receipt;
    });
    expect((await platform.call(`${SPACES}/${space.id}`, { key: alice.key, method: 'DELETE' })).status).toBe(204);
    await until(async () => gone.size === Object.keys(inside).length, 'the end of the others');
    expect([...stuck.keys()].toSorted()).toEqual(Object.keys(inside).toSorted());
    failing.mockRestore();
  });

  it('forgets a deleted user as a member, also as the last owner', async () => {
    const owner = await platform.newCaller();
    const { body: space } = await create('Orphaned', {}, owner.key);
    await setMember(space.id, bob.userId, 'viewer', owner.key);
    await platform.call(`/api/v1/core/users/${owner.userId}`, { method: 'DELETE' });
    await until(
      async () => (await platform.call<Space>(`${SPACES}/${space.id}`)).body.memberCount === 1,
      'the end of the membership',
    );
    expect(
      (await platform.call(`${SPACES}/${space.id}/members/${bob.userId}`, { method: 'PUT', body: { role: 'owner' } }))
        .status,
    ).toBe(200);
  });
});
