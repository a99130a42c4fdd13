import { add, agentIn, held, list, type Place, publish, rename, SKILLS, space } from './skill-names-world';
import { alice, platform, withSpaces } from './spaces-world';

withSpaces();

describe('the name of a Skill', () => {
  it("is the Space's or its Agents', and two Agents may each have it", async () => {
    const spaceId = await space('Names');
    const ofSpace: Place = { scope: 'space', spaceId };
    const [one, other] = [await agentIn(spaceId), await agentIn(spaceId)];
    const shared = await add(ofSpace, 'Shared');
    expect(shared.status).toBe(201);
    expect((await add(one, 'shared')).body).toMatchObject({ code: 'name_taken' });
    const mine = await add(one, 'Mine');
    expect(mine.status).toBe(201);
    expect((await add(other, 'Mine')).status).toBe(201);
    expect((await add(ofSpace, 'Mine')).body).toMatchObject({ code: 'name_taken' });
    // Another name of the same slug.
    expect((await add(ofSpace, 'Mine!')).body).toMatchObject({
      code: 'name_taken',
      detail: expect.stringMatching(/^Another Skill already has the slug/) as string,
      errors: [{ path: 'name', code: 'slug_taken' }],
    });
    for (const { body } of [shared, mine]) expect((await publish(body.id)).status).toBe(200);
    expect((await list(`agentId=${one.agentId}`)).map(({ name, availability }) => [name, availability])).toEqual([
      ['Mine', 'agent'],
      ['Shared', 'space'],
    ]);
    expect((await list(`spaceId=${spaceId}`)).map(({ name }) => name)).toEqual(['Shared']);
  });

  it.each(['ｐｄｆ', 'PDF', 'p\u200bdf', 'p\u00addf'])('is taken where it looks equal: %j', async (name) => {
    const spaceId = await space(`Looks like ${[...name].map((sign) => sign.codePointAt(0)).join('-')}`);
    expect((await add({ scope: 'space', spaceId }, 'pdf')).status).toBe(201);
    expect((await add({ scope: 'space', spaceId }, name)).body).toMatchObject({ code: 'name_taken' });
  });

  it.each(['p\u0430yments', '!!!', 'A\u202eB', 'x'.repeat(65)])(
    'is rejected where it deceives or gives no slug: %j',
    async (name) => {
      const spaceId = await space(`Rejects ${name.length}${name.codePointAt(1)}`);
      const answer = await add({ scope: 'space', spaceId }, name);
      expect([answer.status, answer.body]).toMatchObject([400, { code: 'invalid_body' }]);
    },
  );

  it('is taken by a rename, given back by the next and by a deletion, and its slug stays', async () => {
    const spaceId = await space('Renames');
    const place: Place = { scope: 'space', spaceId };
    const { body: skill } = await add(place, 'First');
    const { body: other } = await add(place, 'Other');
    expect((await rename(other.id, 'FIRST')).body).toMatchObject({ code: 'name_taken' });
    expect((await rename(skill.id, 'Second')).body).toMatchObject({ name: 'Second', slug: 'first', hasDraft: true });
    expect((await rename(other.id, 'First')).body).toMatchObject({ name: 'First', slug: 'other' });
    expect((await rename(skill.id, 'second')).body).toMatchObject({ name: 'second' });
    expect((await add(place, 'Second')).body).toMatchObject({ errors: [{ path: 'name', code: 'name_taken' }] });
    // Its name is free, but the slug that it gives stays with the first.
    expect((await rename(other.id, 'Third')).status).toBe(200);
    expect((await add(place, 'First')).body).toMatchObject({ errors: [{ path: 'name', code: 'slug_taken' }] });
    const removal = await platform.call(`${SKILLS}/${skill.id}`, { key: alice.key, method: 'DELETE' });
    expect(removal.status).toBe(204);
    expect((await add(place, 'Second')).status).toBe(201);
    expect(await held(spaceId)).toHaveLength(2);
  });

  it('leaves a Skill as it is for others who change it, where its rename is rejected', async () => {
    const place: Place = { scope: 'space', spaceId: await space('Rejected renames') };
    const [{ body: taken }, { body: skill }] = [await add(place, 'Taken'), await add(place, 'Mine')];
    const path = `${SKILLS}/${skill.id}`;
    const read = async () => (await platform.call(path, { key: alice.key })).headers['etag'] as string;
    const etag = await read();
    expect((await rename(skill.id, String(taken['name']))).status).toBe(409);
    const put = (name: string, match: string) =>
      platform.call(path, { key: alice.key, method: 'PUT', body: { name }, headers: { 'if-match': match } });
    expect((await put('Late', '"99"')).status).toBe(412);
    expect([await read(), (await put('Yours', etag)).status]).toEqual([etag, 200]);
    // What was rejected holds no name.
    expect((await add(place, 'Late')).status).toBe(201);
  });

  it('has room for 50 in a place', async () => {
    const spaceId = await space('Full');
    // Thirteen at once: who waits in a longer line for eight seconds on a busy machine is told so, whether there is room or not.
    const answers: Awaited<ReturnType<typeof add>>[] = [];
    for (const round of [0, 1, 2, 3]) {
      const names = Array.from({ length: 13 }, (_, n) => `Skill ${13 * round + n}`);
      answers.push(...(await Promise.all(names.map((name) => add({ scope: 'space', spaceId }, name)))));
    }
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(50);
    expect(answers.find(({ status }) => status !== 201)?.body).toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('SKILLS_PER_PLACE') as string,
    });
    expect((await add(await agentIn(spaceId), 'One more')).status).toBe(201);
  });
});
