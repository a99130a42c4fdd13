import { until } from '../fixtures/until';
import {
  call,
  forAgent,
  inSpace,
  install,
  items,
  list,
  listed,
  loadable,
  made,
  MARKET,
  newAgent,
  newSpace,
  published,
} from './market-world';
import { held } from './skill-names-world';
import { alice, bob, mallory, platform, setMember, withSpaces } from './spaces-world';
import { UNKNOWN_ID } from './world';

withSpaces();

const taken = { status: 409, code: 'name_taken' };
const add = (place: object, name: string) =>
  call('/skills', 'POST', { ...place, name, description: 'D', instructions: 'I' });
const installed = async (entryId: string) => items(`${MARKET}/${entryId}/installations?limit=100`);

describe('the name of an installation', () => {
  it('is refused where a Skill of the place has it, or the slug that it is made to', async () => {
    const { entryId } = await listed('Pay the bills');
    const [named, slugged] = [await newSpace(), await newSpace()];
    expect((await add(inSpace(named), 'PAY THE BILLS')).status).toBe(201);
    // Another name of the same slug.
    expect((await add(inSpace(slugged), 'Pay, the bills!')).body).toMatchObject({ slug: 'pay-the-bills' });
    for (const [spaceId, what] of [
      [named, 'name'],
      [slugged, 'slug'],
    ] as const) {
      const detail = expect.stringMatching(`^Another Skill here has the ${what} of this one`) as string;
      expect((await install(entryId, inSpace(spaceId))).body).toMatchObject({ ...taken, detail });
      expect((await install(entryId, forAgent(await newAgent(spaceId)))).body).toMatchObject(taken);
      expect(await held(spaceId)).toHaveLength(1);
    }
    expect(await installed(entryId)).toEqual([]);
  });

  it('is refused to Skills and entries of the place for as long as it is installed', async () => {
    const [{ entryId }, twin] = [await listed('Book a room'), await listed('Book, a room')];
    const spaceId = await newSpace();
    const agentId = await newAgent(spaceId);
    const { body } = await install(entryId, inSpace(spaceId));
    const other = await made('/skills', { ...inSpace(spaceId), name: 'Other', description: 'D', instructions: 'I' });
    const tries = () => [
      add(inSpace(spaceId), 'book A room'),
      add({ scope: 'agent', agentId }, 'Book a room?'),
      call(`/skills/${other}`, 'PUT', { name: 'Book a Room' }),
      install(twin.entryId, inSpace(spaceId)),
      install(twin.entryId, forAgent(agentId)),
      install(entryId, forAgent(agentId)),
    ];
    for (const answer of await Promise.all(tries())) expect(answer.body).toMatchObject(taken);
    expect(await held(spaceId)).toEqual([body.id, other].toSorted());
    expect((await call(`${MARKET}/${entryId}/installations/${body.id}`, 'DELETE')).status).toBe(204);
    expect((await install(twin.entryId, inSpace(spaceId))).status).toBe(201);
  });

  it("is each Agent's own, or the Space's", async () => {
    const { entryId } = await listed('Sort the mail');
    const spaceId = await newSpace();
    const [one, other, plain] = [await newAgent(spaceId), await newAgent(spaceId), await newAgent(spaceId)];
    const first = await install(entryId, forAgent(one));
    expect([first.status, (await install(entryId, forAgent(other))).status]).toEqual([201, 201]);
    expect((await install(entryId, inSpace(spaceId))).body).toMatchObject({
      ...taken,
      detail: expect.stringContaining('already installed here') as string,
    });
    const found = [await loadable(one), await loadable(other), await loadable(plain)];
    expect(found.map(({ rows }) => rows.map(({ id }) => id))).toEqual([[entryId], [entryId], []]);
    expect((await call(`${MARKET}/${entryId}/installations/${first.body.id}`, 'DELETE')).status).toBe(204);
    expect((await loadable(one)).rows).toEqual([]);
    expect((await loadable(other)).rows).toHaveLength(1);
    expect((await install(entryId, inSpace(spaceId))).body).toMatchObject(taken);
  });

  it('is held by what is installed alone, while many install and take away at once', async () => {
    const { entryId } = await listed('Come and go');
    const spaceId = await newSpace();
    const agents = [await newAgent(spaceId), await newAgent(spaceId)] as const;
    for (let round = 0; round < 6; round += 1) {
      const places = [inSpace(spaceId), ...agents.map(forAgent)];
      const answers = await Promise.all([...places, ...places].map((at) => install(entryId, at)));
      expect(answers.map(({ status }) => status).filter((status) => status !== 201 && status !== 409)).toEqual([]);
      const ids = answers.flatMap(({ status, body }) => (status === 201 ? [body.id] : []));
      expect(ids.length).toBeGreaterThan(0);
      expect(await held(spaceId)).toEqual(ids.toSorted());
      const twice = await Promise.all(
        [...ids, ...ids].map((id) => call(`${MARKET}/${entryId}/installations/${id}`, 'DELETE')),
      );
      expect(twice.filter(({ status }) => status === 204).length).toBeGreaterThanOrEqual(ids.length);
      expect(await held(spaceId)).toEqual([]);
    }
  });
});

describe('an entry that is archived', () => {
  it('is installed by none who asks afterwards, and what was installed meanwhile is whole', async () => {
    for (let round = 0; round < 6; round += 1) {
      const { entryId } = await listed(`Raced ${round}`);
      const spaces: string[] = [];
      for (let n = 0; n < 6; n += 1) spaces.push(await newSpace());
      const archive = () => call(`${MARKET}/${entryId}`, 'DELETE');
      // At each round behind another of those who install.
      const asks = spaces.map((spaceId) => () => install(entryId, inSpace(spaceId)));
      const answers = await Promise.all(asks.toSpliced(round, 0, archive).map((ask) => ask()));
      const [gone] = answers.splice(round, 1);
      expect(gone?.status).toBe(204);
      expect(answers.map(({ status }) => status).filter((status) => status !== 201 && status !== 409)).toEqual([]);
      const rows = await installed(entryId);
      for (const [n, { status, body }] of answers.entries()) {
        const ids = status === 201 ? [body.id] : [];
        expect(await held(spaces[n] as string)).toEqual(ids);
        expect(rows.filter(({ spaceId }) => spaceId === spaces[n]).map(({ id }) => id)).toEqual(ids);
      }
      expect((await install(entryId, inSpace(await newSpace()))).body).toMatchObject({ status: 409, code: 'conflict' });
    }
  });
});

describe('what is installed', () => {
  it('goes on when the Skill that it came from, its Space and who listed and installed it are deleted', async () => {
    const author = await platform.newCaller({ role: 'admin' });
    const spaceId = await newSpace(author);
    const skillId = await published(spaceId, 'Orphaned', 'Keep calm.', author);
    const { body: entry } = await list(skillId, {}, author);
    const place = await newSpace(alice);
    await setMember(place, author.userId, 'editor');
    const agentId = await newAgent(place, alice);
    expect((await install(entry.id, forAgent(agentId), author)).status).toBe(201);
    const before = await loadable(agentId, alice);
    expect(before.rows).toMatchObject([{ id: entry.id, availability: 'installed' }]);
    expect((await call(`/skills/${skillId}`, 'DELETE', undefined, author)).status).toBe(204);
    expect((await call(`/spaces/${spaceId}`, 'DELETE', undefined, author)).status).toBeLessThan(300);
    expect((await call(`/users/${author.userId}`, 'DELETE')).status).toBe(204);
    const receipts = async () =>
      (await platform.call('/api/v1/audit/events?type=ContentErased&limit=100&order=desc')).text;
    for (const stream of [`skill-${skillId}`, `space-${spaceId}`, `user-${author.userId}`])
      await until(async () => (await receipts()).includes(stream), `the receipt of ${stream}`);

    expect(await loadable(agentId, alice)).toEqual(before);
    expect((await items(`/skills?agentId=${agentId}`, alice))[0]).toMatchObject({
      name: 'Orphaned',
      description: 'Use for Orphaned.',
      sourceId: skillId,
      creatorId: author.userId,
    });
    expect((await call(`${MARKET}/${entry.id}`, undefined, undefined, alice)).body).toEqual(entry);
    expect(await items(`${MARKET}/${entry.id}/installations`, alice)).toMatchObject([{ installedBy: author.userId }]);
    expect((await items(`/skills/${entry.id}/versions`, alice))[0]).toMatchObject({ instructions: 'Keep calm.' });
    expect((await install(entry.id, inSpace(await newSpace(alice)), alice)).status).toBe(201);
  });

  it('is taken away by editors of its place alone, and seen by its viewers', async () => {
    const { entryId } = await listed('Rights');
    const spaceId = await newSpace(alice);
    await setMember(spaceId, bob.userId, 'viewer');
    const { body } = await install(entryId, inSpace(spaceId), alice);
    const path = `${MARKET}/${entryId}/installations/${body.id}`;
    expect(await items(`${MARKET}/${entryId}/installations`, bob)).toMatchObject([{ id: body.id }]);
    expect(await items(`/skills?spaceId=${spaceId}`, bob)).toMatchObject([{ id: entryId, installationId: body.id }]);
    expect((await call(path, 'DELETE', undefined, bob)).body).toMatchObject({ status: 403, code: 'forbidden' });
    await setMember(spaceId, bob.userId, 'editor');
    expect((await call(path, 'DELETE', undefined, bob)).status).toBe(204);
    const again = await install(entryId, inSpace(spaceId), bob);
    expect([again.status, again.body['installedBy']]).toEqual([201, bob.userId]);
    const reader = await platform.newCaller({ permissions: ['skills:read'] });
    await setMember(spaceId, reader.userId, 'editor');
    expect((await install(entryId, inSpace(spaceId), reader)).status).toBe(403);
    expect((await items(`${MARKET}/${entryId}/installations`, reader)).length).toBe(1);
  });

  it('is unknown by foreign ids, on every route', async () => {
    const { skillId, entryId } = await listed('Mine');
    const other = await listed('Elsewhere');
    const spaceId = await newSpace(alice);
    const { body } = await install(entryId, inSpace(spaceId), alice);
    const own = `${MARKET}/${entryId}`;
    const unknown: readonly (readonly [path: string, method: 'GET' | 'POST' | 'PUT' | 'DELETE', sent?: object])[] = [
      // Of another entry, of nobody; a Skill in the place of an entry, and the other way round.
      [`${MARKET}/${other.entryId}/installations/${body.id}`, 'DELETE'],
      [`${own}/installations/${UNKNOWN_ID}`, 'DELETE'],
      [`${own}/installations/${entryId}`, 'DELETE'],
      ...[skillId, UNKNOWN_ID, body.id, spaceId].flatMap((id) => [
        [`${MARKET}/${id}`, 'GET'] as const,
        [`${MARKET}/${id}`, 'DELETE'] as const,
        [`${MARKET}/${id}/restore`, 'POST'] as const,
        [`${MARKET}/${id}/installations`, 'GET'] as const,
        [`${MARKET}/${id}/installations`, 'POST', inSpace(spaceId)] as const,
      ]),
      ...[entryId, body.id].flatMap((id) => [
        [`/skills/${id}`, 'PUT', { description: 'Changed.' }] as const,
        [`/skills/${id}`, 'DELETE'] as const,
        [`/skills/${id}/publish`, 'POST'] as const,
        [`/skills/${id}/draft`, 'DELETE'] as const,
      ]),
      [`${own}/installations`, 'POST', inSpace(UNKNOWN_ID)],
      [`${own}/installations`, 'POST', forAgent(UNKNOWN_ID)],
    ];
    for (const [path, method, sent] of unknown) {
      const { status } = await call(path, method === 'GET' ? undefined : method, sent);
      expect([method, path, status]).toEqual([method, path, 404]);
    }
    expect((await list(entryId)).body).toMatchObject({ status: 404 });
    // Of places that the caller is no member of.
    expect((await install(entryId, inSpace(spaceId), mallory)).body).toMatchObject({ status: 404 });
    expect((await install(entryId, forAgent(await newAgent(spaceId, alice)), mallory)).body).toMatchObject({
      status: 404,
    });
    expect(await items(`${own}/installations`, alice)).toMatchObject([{ id: body.id }]);
  });
});
