import { alice, bob, create, mallory, platform, setMember, withSpaces } from './spaces-world';

withSpaces();

const SKILLS = '/api/v1/core/skills';
type Body = Readonly<Record<string, unknown>> & { readonly id: string };

const send = (path: string, method: 'POST' | 'PUT' | 'DELETE', body?: object, key = alice.key) =>
  platform.call<Body>(`${SKILLS}${path}`, { key, method, ...(body === undefined ? {} : { body }) });
const get = (path: string, key = alice.key) => platform.call<Body>(`${SKILLS}${path}`, { key });
const content = { description: 'Checks invoices.', instructions: 'Look at the sum.' };
const made = async (spaceId: string, name: string, more: object = {}): Promise<Body> => {
  const answer = await send('', 'POST', { scope: 'space', spaceId, name, ...content, ...more });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.body;
};
const itemsOf = ({ body }: { readonly body: Body }) => body['items'] as readonly Body[];

describe('versions of a Skill', () => {
  it('have as much frontmatter as a file of theirs may have, so that each export can be read again', async () => {
    const { body: space } = await create('Keys');
    const { id } = await made(space.id, 'Many keys');
    const put = (characters: number) => send(`/${id}`, 'PUT', { frontmatter: { note: 'x'.repeat(characters) } });
    expect((await put(8_192 - '{"note":""}'.length)).status).toBe(200);
    const much = await put(8_193 - '{"note":""}'.length);
    expect([much.status, much.body]).toMatchObject([400, { code: 'invalid_body' }]);
  });

  it('are drafted beside what is live, published, and made live again', async () => {
    const { body: space } = await create('Versions');
    const skill = await made(space.id, 'Check invoices');
    expect(skill).toMatchObject({
      name: 'Check invoices',
      slug: 'check-invoices',
      status: 'draft',
      activeVersionId: null,
      hasDraft: true,
      description: 'Checks invoices.',
      source: 'CUSTOM',
      scope: 'space',
      agentId: null,
    });
    const published = await send(`/${skill.id}/publish`, 'POST');
    expect([published.status, published.body]).toMatchObject([200, { status: 'published', hasDraft: false }]);
    const first = published.body['activeVersionId'] as string;

    const changed = await send(`/${skill.id}`, 'PUT', { instructions: 'Look at the date.\r\n', name: 'Check bills' });
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { name: 'Check bills', slug: 'check-invoices', activeVersionId: first, hasDraft: true },
    ]);
    expect((await get(`/${skill.id}/versions/${first}`)).body).toMatchObject({
      number: 1,
      status: 'published',
      instructions: 'Look at the sum.',
      basedOn: null,
    });
    const draft = await get(`/${skill.id}/versions/draft`);
    expect(draft.body).toMatchObject({
      number: 2,
      status: 'draft',
      instructions: 'Look at the date.',
      description: 'Checks invoices.',
      basedOn: first,
    });
    // It is edited under the revision of its Skill; what is published never changes.
    expect(draft.headers['etag']).toMatch(/^"\d+"$/);
    expect(draft.headers['etag']).toBe((await get(`/${skill.id}`)).headers['etag']);
    expect((await get(`/${skill.id}/versions/${String(draft.body.id)}`)).headers['etag']).toBe(draft.headers['etag']);
    expect((await get(`/${skill.id}/versions/${first}`)).headers).not.toHaveProperty('etag');
    const second = (await send(`/${skill.id}/publish`, 'POST')).body['activeVersionId'] as string;
    expect(second).not.toBe(first);
    expect((await send(`/${skill.id}/publish`, 'POST')).body).toMatchObject({ code: 'conflict' });
    expect((await send(`/${skill.id}/activate`, 'POST', { versionId: first })).body).toMatchObject({
      activeVersionId: first,
    });
    expect(itemsOf(await get(`/${skill.id}/versions`)).map(({ id }) => id)).toEqual([second, first]);
    const other = await made(space.id, 'Another', { publish: true });
    const foreign = await send(`/${skill.id}/activate`, 'POST', { versionId: other['activeVersionId'] });
    expect([foreign.status, foreign.body]).toMatchObject([400, { code: 'invalid_body' }]);
  });

  it('are listed for an Agent once one is live, to its editors as well, who can ask for the drafts', async () => {
    const { body: space } = await create('Loadable');
    const agent = await platform.call<Body>('/api/v1/core/agents', {
      key: alice.key,
      method: 'POST',
      body: { spaceId: space.id, name: 'Guide' },
    });
    const ofAgent = { scope: 'agent', spaceId: undefined, agentId: agent.body.id };
    const [shared, own] = [await made(space.id, 'Shared draft'), await made(space.id, 'Own draft', ofAgent)];
    const live = await made(space.id, 'Live', { publish: true });
    await send(`/${live.id}`, 'PUT', { instructions: 'Look at the date.' });
    const listed = async (query: string) => itemsOf(await get(`?${query}`)).map(({ id }) => id);
    expect(await listed(`agentId=${agent.body.id}`)).toEqual([live.id]);
    expect(await listed(`agentId=${agent.body.id}&status=draft`)).toEqual([own.id, shared.id]);
    const [draft] = itemsOf(await get(`?agentId=${agent.body.id}&status=draft`));
    expect(draft).not.toHaveProperty('availability');
    await setMember(space.id, bob.userId, 'viewer');
    expect(itemsOf(await get(`?agentId=${agent.body.id}&status=draft`, bob.key))).toEqual([]);
    expect(await listed(`spaceId=${space.id}&status=draft`)).toEqual([shared.id]);
    expect(await listed(`spaceId=${space.id}`)).toEqual([live.id, shared.id]);
    for (const { id } of [shared, own]) expect((await send(`/${id}/publish`, 'POST')).status).toBe(200);
    expect(await listed(`agentId=${agent.body.id}`)).toEqual([live.id, own.id, shared.id]);
  });

  it('are found by text in name, slug and the description that is shown, whatever its case', async () => {
    const { body: space } = await create('Searched');
    const texts = { description: 'Use for Größen.' };
    const renamed = await made(space.id, 'Zebra crossing', { ...texts, publish: true });
    await send(`/${renamed.id}`, 'PUT', { name: 'Pavements', description: 'Use for kerbs.' });
    const draft = await made(space.id, 'Giraffe', { description: 'Use for heights.' });
    await setMember(space.id, bob.userId, 'viewer');
    const found = async (q: string, key = alice.key) =>
      itemsOf(await get(`?spaceId=${space.id}&q=${encodeURIComponent(q)}`, key)).map(({ id }) => id);
    for (const q of ['PAVE', 'zebra-C', 'grÖSSEN']) {
      expect([q, await found(q)]).toEqual([q, [renamed.id]]);
      expect([q, await found(q, bob.key)]).toEqual([q, [renamed.id]]);
    }
    expect(await found('kerbs')).toEqual([]);
    expect(await found('HEIGHTS')).toEqual([draft.id]);
    expect(await found('heights', bob.key)).toEqual([]);
  });

  it('are read by viewers once they are published, and by nobody else', async () => {
    const { body: space } = await create('Readers');
    const skill = await made(space.id, 'Secret');
    await setMember(space.id, bob.userId, 'viewer');
    const paths = [`/${skill.id}`, `/${skill.id}/versions`, `/${skill.id}/versions/draft`];
    for (const path of paths)
      for (const { key } of [bob, mallory]) expect((await get(path, key)).body).toMatchObject({ code: 'not_found' });
    expect(itemsOf(await get(`?spaceId=${space.id}`, bob.key))).toEqual([]);
    await send(`/${skill.id}/publish`, 'POST');
    await send(`/${skill.id}`, 'PUT', { description: 'Not yet.' });
    expect((await get(`/${skill.id}`, bob.key)).body).toMatchObject({
      hasDraft: false,
      description: 'Checks invoices.',
    });
    const hidden = await get(`/${skill.id}/versions/draft`, bob.key);
    expect([hidden.status, hidden.body]).toMatchObject([
      404,
      { detail: expect.stringMatching(/^Skill version draft not found/) as string },
    ]);
    expect(itemsOf(await get(`/${skill.id}/versions`, bob.key))).toHaveLength(1);
    expect(itemsOf(await get(`?spaceId=${space.id}`, bob.key))).toMatchObject([{ hasDraft: false }]);
    for (const [path, method, body] of [
      ['', 'PUT', { description: 'x' }],
      ['', 'DELETE', undefined],
      ['/publish', 'POST', undefined],
      ['/activate', 'POST', { versionId: skill.id }],
    ] as const) {
      expect((await send(`/${skill.id}${path}`, method, body, bob.key)).status).toBe(403);
      expect((await send(`/${skill.id}${path}`, method, body, mallory.key)).status).toBe(404);
    }
  });
});
