import { repeated } from '../fixtures/repeated';
import { type EventStoreDouble, startEventStoreDouble } from '../servers/eventstoredb/double';
import { add, agentIn, type Body, held, list, type Place, rename, SKILLS, space } from './skill-names-world';
import { alice, create, platform, withSpaces } from './spaces-world';

/** Requests at once for what only one may get. At two API processes: `test/servers/skills.spec.ts`. */

const ROUNDS = repeated(2, 5);

const send = (path: string, method: 'POST' | 'PUT' | 'DELETE', body?: object) =>
  platform.call<Body>(`${SKILLS}${path}`, { key: alice.key, method, ...(body === undefined ? {} : { body }) });
const get = (path: string) => platform.call<Body>(`${SKILLS}${path}`, { key: alice.key });

describe.each<readonly [log: string, start: () => Promise<EventStoreDouble | undefined>]>([
  ['the embedded log', async () => undefined],
  ['EventStoreDB', () => startEventStoreDouble()],
])('of those who ask at once, on %s,', (_, start) => {
  let server: EventStoreDouble | undefined;
  beforeAll(async () => (server = await start()));
  withSpaces(() => (server === undefined ? {} : { EVENTSTORE_URL: server.url }));
  afterAll(() => server?.stop());

  it('one of 50 gets a name, for the Space or its Agents', async () => {
    const spaceId = await space('Rush');
    const agents = await Promise.all(Array.from({ length: 3 }, () => agentIn(spaceId)));
    const places: readonly Place[] = [{ scope: 'space', spaceId }, ...agents];
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => add(places[n % 4] as Place, 'Wanted')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]));
    const ofSpace = await list(`spaceId=${spaceId}`);
    const ofAgents = await Promise.all(
      agents.map(async ({ agentId }) =>
        (await list(`agentId=${agentId}&status=draft`)).filter(({ scope }) => scope === 'agent'),
      ),
    );
    const winners = answers.filter(({ status }) => status === 201).map(({ body }) => body.id);
    expect([...ofSpace, ...ofAgents.flat()].map(({ id }) => id).toSorted()).toEqual(winners.toSorted());
    if (ofSpace.length > 0) expect(winners).toHaveLength(1);
    else for (const own of ofAgents) expect(own.length).toBeLessThanOrEqual(1);
    expect(await held(spaceId)).toEqual(winners.toSorted());
  });

  it('one gets a name who renames to it, creates it or takes it back', async () => {
    const spaceId = await space('Renames in a race');
    const places: readonly Place[] = [{ scope: 'space', spaceId }, await agentIn(spaceId)];
    for (let round = 0; round < ROUNDS; round += 1) {
      const name = `Wanted ${round}`;
      const others = await Promise.all(places.map((place, turn) => add(place, `Other ${round} ${turn}`)));
      const owner = (await add(places[round % 2] as Place, `First ${round}`)).body;
      expect((await rename(owner.id, name)).status).toBe(200);
      const answers = await Promise.all([
        rename(owner.id, `Given up ${round}`),
        ...others.map(({ body }) => rename(body.id, name)),
        ...Array.from({ length: 6 }, (_, turn) => add(places[turn % 2] as Place, name)),
      ]);
      expect(answers.map(({ status }) => status).filter((status) => ![200, 201, 409].includes(status))).toEqual([]);
      expect(answers[0]?.status).toBe(200);
      const won = answers.slice(1).filter(({ status }) => status !== 409);
      expect(won.length).toBeLessThanOrEqual(1);
      // Nobody holds what nobody has: it is there for the next one, or taken by the one who got it.
      const next = await add(places[0] as Place, name);
      expect(next.status).toBe(won.length === 1 ? 409 : 201);
      const ids = [owner.id, ...others.map(({ body }) => body.id), ...won.map(({ body }) => body.id)];
      const all = new Set(next.status === 201 ? [...ids, next.body.id] : ids);
      const now = await held(spaceId);
      expect(now.filter((id) => all.has(id)).toSorted()).toEqual([...all].toSorted());
      expect(new Set(now).size).toBe(now.length);
      await Promise.all([...all].map((id) => platform.call(`${SKILLS}/${id}`, { key: alice.key, method: 'DELETE' })));
      expect(await held(spaceId)).toEqual([]);
    }
  });

  it('those who publish, edit, activate and delete a Skill are answered with what holds', async () => {
    const { body: space } = await create('Races');
    for (let round = 0; round < ROUNDS; round += 1) {
      const { body: skill } = await send('', 'POST', {
        scope: 'space',
        spaceId: space.id,
        name: `Raced ${round}`,
        description: 'Checks invoices.',
        instructions: 'Look at the sum.',
        publish: true,
      });
      await send(`/${skill.id}`, 'PUT', { instructions: 'Second.' });
      const first = skill['activeVersionId'] as string;
      const version = async (id: unknown) => (await get(`/${skill.id}/versions/${String(id)}`)).body;
      const publish = () => send(`/${skill.id}/publish`, 'POST');
      const [published, others, removal] = await Promise.all([
        Promise.all([publish(), publish(), publish()]),
        Promise.all([
          ...['Third.', 'Fourth.', 'Fifth.'].map((instructions) => send(`/${skill.id}`, 'PUT', { instructions })),
          send(`/${skill.id}/activate`, 'POST', { versionId: first }),
        ]),
        round % 2 === 0 ? undefined : send(`/${skill.id}`, 'DELETE'),
      ]);
      for (const { status } of published) expect([200, 404, 409]).toContain(status);
      for (const { status } of others) expect([200, 404]).toContain(status);
      const after = await get(`/${skill.id}`);
      if (removal !== undefined) {
        expect([removal.status, after.status]).toEqual([204, 404]);
        expect((await send(`/${skill.id}/publish`, 'POST')).status).toBe(404);
        continue;
      }
      const versions = (await get(`/${skill.id}/versions`)).body['items'] as readonly Body[];
      const frozen = versions.filter(({ status }) => status === 'published');
      // Each was published once, with a number of its own.
      const events = await platform.call<{ items: { data: { versionId: string } }[] }>(
        `/api/v1/audit/events?stream=skill-${skill.id}&type=SkillPublished&limit=100`,
      );
      expect(events.body.items.map(({ data }) => data.versionId).toSorted()).toEqual(
        frozen.map(({ id }) => id).toSorted(),
      );
      expect(new Set(versions.map(({ number }) => number)).size).toBe(versions.length);
      expect(frozen.at(-1)?.['instructions']).toBe('Look at the sum.');
      expect(frozen.map(({ id }) => id)).toContain(after.body['activeVersionId']);
      const texts = await Promise.all(frozen.map(({ id }) => version(id)));
      await send(`/${skill.id}`, 'PUT', { instructions: 'Sixth.' });
      expect(await Promise.all(frozen.map(({ id }) => version(id)))).toEqual(texts);
    }
  });
});
