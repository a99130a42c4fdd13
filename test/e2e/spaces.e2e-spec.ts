import { asUnknown, UNKNOWN_ID } from './world';
import { alice, bob, create, mallory, platform, setMember, type Space, SPACES, withSpaces } from './spaces-world';

withSpaces();

describe('Spaces', () => {
  it('are created with a slug, changed and listed with the role of the caller', async () => {
    const { status, body, headers } = await create('Büro Straße 7', { description: 'Ours', color: '#aabbcc' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'Büro Straße 7',
      slug: 'buro-strasse-7',
      description: 'Ours',
      color: '#aabbcc',
      kind: 'team',
      role: 'owner',
      memberCount: 1,
      revision: 0,
    });
    expect(headers['location']).toBe(`${SPACES}/${body.id}`);
    expect(
      (
        await platform.call(`${SPACES}/${body.id}`, {
          key: alice.key,
          method: 'PATCH',
          body: { name: 'Büro', slug: 'buero' },
        })
      ).body,
    ).toMatchObject({ name: 'Büro', slug: 'buero', color: '#aabbcc', revision: 1 });
    expect((await create('Büro Straße 7', {}, bob.key)).status).toBe(201);
    expect((await platform.call<{ items: Space[] }>(SPACES, { key: alice.key })).body.items[0]).toMatchObject({
      name: 'Büro',
      role: 'owner',
    });
  });

  it('have names and slugs that are unique however they are written, also for many at once', async () => {
    const names = ['Crème', 'CRÈME', 'Cre\u0300me', 'Crème\u200b', ' crème '];
    const answers = await Promise.all(names.map((name) => create(name)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
      code: 'name_taken',
      errors: [{ path: 'name' }],
    });
    const slugs = await Promise.all(Array.from({ length: 5 }, (_, n) => create(`Slug ${n}`, { slug: 'same' })));
    expect(slugs.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409]);
    expect(slugs.find(({ status }) => status === 409)?.body).toMatchObject({ errors: [{ path: 'slug' }] });
  });

  it('give a name that was rejected or given up to the next who asks', async () => {
    const { body: space } = await create('First', { slug: 'first' });
    expect((await create('Second', { slug: 'first' })).status).toBe(409);
    expect((await create('Second', { slug: 'second' })).status).toBe(201);
    await platform.call(`${SPACES}/${space.id}`, { key: alice.key, method: 'PUT', body: { name: 'Renamed' } });
    expect((await create('First', { slug: 'third' })).status).toBe(201);
    await platform.call(`${SPACES}/${space.id}`, { key: alice.key, method: 'DELETE' });
    expect((await create('Renamed', { slug: 'first' })).status).toBe(201);
  });

  it('keep the name and slug they got when the same change is rejected at the same time', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { body: space } = await create(`Contested ${round}`);
      const [name, slug] = [`Won ${round}`, `won-by-${round}`];
      const change = () =>
        platform.call(`${SPACES}/${space.id}`, {
          key: alice.key,
          method: 'PATCH',
          body: { name, slug },
          headers: { 'if-match': '"0"' },
        });
      expect((await Promise.all([change(), change()])).map(({ status }) => status).toSorted()).toEqual([200, 412]);
      const rejected = await Promise.all([
        create(name, { slug: `other-${round}` }, bob.key),
        create(`Other ${round}`, { slug }, bob.key),
      ]);
      expect(rejected).toMatchObject([
        { status: 409, body: { code: 'name_taken', errors: [{ path: 'name' }] } },
        { status: 409, body: { code: 'name_taken', errors: [{ path: 'slug' }] } },
      ]);
    }
  });

  it.each(['DELETE', 'PATCH'] as const)(
    'set a name free at once that two changes gave them at the same time, by %s',
    async (method) => {
      const [name, slug] = [`Given twice until ${method}`, `given-twice-until-${method.toLowerCase()}`];
      const { body: space } = await create(`Before ${method}`);
      const path = `${SPACES}/${space.id}`;
      const change = () => platform.call(path, { key: alice.key, method: 'PATCH', body: { name, slug } });
      expect((await Promise.all([change(), change()])).map(({ status }) => status)).toEqual([200, 200]);
      expect((await create(name, {}, bob.key)).status).toBe(409);
      await platform.call(path, {
        key: alice.key,
        method,
        ...(method === 'PATCH' ? { body: { name: 'After', slug: 'after' } } : {}),
      });
      expect((await create(name, { slug }, bob.key)).status).toBe(201);
    },
  );

  it.each([
    { slug: 'No Space' },
    { slug: 'a\nb' },
    { slug: 'ü' },
    { color: 'red' },
    { color: '#12345' },
    { description: 'x'.repeat(2_001) },
  ])('rejects %j', async (given) => {
    expect((await create('Refused', given)).status).toBe(400);
  });

  it('are as good as unknown to strangers', async () => {
    const { body: space } = await create('Private matters');
    const { body: prompt } = await platform.call<{ id: string }>(`${SPACES}/${space.id}/prompts`, {
      key: alice.key,
      method: 'POST',
      body: { title: 'T', text: 'x' },
    });
    const paths = ['', '/members', `/members/${alice.userId}`, '/prompts', `/prompts/${prompt.id}`];
    for (const path of paths) {
      for (const method of ['GET', 'PUT', 'DELETE', 'POST'] as const) {
        const ask = async (id: string) => {
          const { status, body } = await platform.call(`${SPACES}/${id}${path}`, {
            key: bob.key,
            method,
            ...(method === 'PUT' || method === 'POST' ? { body: { role: 'owner' } } : {}),
          });
          return { status, ...body, requestId: '' };
        };
        expect(JSON.parse(asUnknown(JSON.stringify(await ask(space.id)), space.id))).toEqual(await ask(UNKNOWN_ID));
      }
    }
    expect(
      (await platform.call<{ items: Space[] }>(SPACES, { key: bob.key })).body.items.map(({ id }) => id),
    ).not.toContain(space.id);
  });

  it('obey roles from the next request on, and keep their last owner', async () => {
    const { body: space } = await create('Roles');
    const path = `${SPACES}/${space.id}`;
    expect((await setMember(space.id, mallory.userId, 'viewer')).body).toMatchObject({
      userId: mallory.userId,
      role: 'viewer',
    });
    expect((await platform.call<Space>(path, { key: mallory.key })).body).toMatchObject({
      role: 'viewer',
      memberCount: 2,
    });
    expect((await platform.call(path, { key: mallory.key, method: 'PUT', body: { name: 'Mine' } })).status).toBe(403);
    expect((await setMember(space.id, mallory.userId, 'owner', mallory.key)).status).toBe(403);
    expect(
      (await platform.call(`${path}/prompts`, { key: mallory.key, method: 'POST', body: { title: 'T', text: 'x' } }))
        .status,
    ).toBe(403);
    expect(
      (await platform.call(`${path}/members/${alice.userId}`, { key: alice.key, method: 'DELETE' })).body,
    ).toMatchObject({ code: 'last_owner' });
    expect((await setMember(space.id, alice.userId, 'viewer')).body).toMatchObject({ code: 'last_owner' });
    expect((await setMember(space.id, UNKNOWN_ID, 'viewer')).status).toBe(404);
    expect(
      (await platform.call(`${path}/members/${mallory.userId}`, { key: alice.key, method: 'DELETE' })).status,
    ).toBe(204);
    expect((await platform.call(path, { key: mallory.key })).status).toBe(404);
    await setMember(space.id, mallory.userId, 'owner');
    const both = await Promise.all([
      setMember(space.id, alice.userId, 'viewer', mallory.key),
      setMember(space.id, mallory.userId, 'viewer', alice.key),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  it('are managed by admins, who read nothing inside', async () => {
    const { body: space } = await create('Managed');
    const path = `${SPACES}/${space.id}`;
    const { body: agent } = await platform.call<{ id: string }>('/api/v1/core/agents', {
      key: alice.key,
      method: 'POST',
      body: { spaceId: space.id, name: 'A' },
    });
    expect((await platform.call<Space>(path)).body.role).toBe('owner');
    expect((await platform.call(`${path}/members`)).status).toBe(200);
    expect((await platform.call(`${path}/prompts`)).status).toBe(403);
    expect((await platform.call(`/api/v1/core/agents/${agent.id}`)).status).toBe(404);
    expect((await platform.call<{ items: Space[] }>(SPACES)).body.items.map(({ id }) => id)).toContain(space.id);
    const home =
      (await platform.call<{ items: { id: string; kind: string }[] }>(SPACES, { key: alice.key })).body.items.find(
        ({ kind }) => kind === 'personal',
      )?.id ?? '';
    expect((await platform.call(`${SPACES}/${home}`)).status).toBe(404);
    expect((await setMember(home, bob.userId, 'viewer')).status).toBe(409);
  });

  it('are created by the roles that may', async () => {
    const { key } = await platform.newCaller({ role: 'operator' });
    expect((await create('No', {}, key)).status).toBe(403);
  });

  it('page by a cursor that holds for their list and caller', async () => {
    const first = await platform.call<{ items: Space[]; nextCursor: string }>(`${SPACES}?limit=2`, { key: alice.key });
    const second = await platform.call<{ items: Space[] }>(`${SPACES}?limit=2&cursor=${first.body.nextCursor}`, {
      key: alice.key,
    });
    expect(new Set([...first.body.items, ...second.body.items].map(({ id }) => id)).size).toBe(4);
    expect((await platform.call(`${SPACES}?cursor=${first.body.nextCursor}`, { key: bob.key })).body).toMatchObject({
      code: 'invalid_cursor',
    });
    expect(
      (await platform.call(`/api/v1/core/agents?cursor=${first.body.nextCursor}`, { key: alice.key })).body,
    ).toMatchObject({ code: 'invalid_cursor' });
  });
});
