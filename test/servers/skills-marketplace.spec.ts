import type { Child } from '../e2e/child';
import { type Cluster, eventually, missingForCluster, startCluster } from './cluster';
import { CORE, type List, watching } from './watching';

/** A marketplace of processes that share a log, views, keys and files: who lists, updates, archives and installs in both at once leaves one entry, whole. */

const LONG = 300_000;
const ROUNDS = 4;
const MARKET = `${CORE}/marketplace/skills`;

interface Item {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly activeVersionId: string;
  readonly code?: string;
}

const specs = (): void => {
  let cluster: Cluster;
  let apis: readonly [Child, Child];
  let spaceId: string;
  const { post, startPair } = watching(() => cluster);

  beforeAll(async () => {
    cluster = await startCluster();
    apis = await startPair();
    spaceId = (await post(apis[0], `${CORE}/spaces`, { name: 'Origin' })).body.id;
  }, LONG);
  afterAll(() => cluster.destroy(), LONG);

  const on = (turn: number): Child => apis[turn % 2] as Child;
  let spaces = 0;
  const newSpace = async (turn: number): Promise<string> =>
    (await post(on(turn), `${CORE}/spaces`, { name: `Place ${(spaces += 1)}` })).body.id;
  const published = async (name: string): Promise<string> => {
    const content = { description: 'A Skill.', instructions: 'Do it.', publish: true };
    const { status, body } = await post<Item>(on(0), `${CORE}/skills`, { scope: 'space', spaceId, name, ...content });
    expect(status).toBe(201);
    return body.id;
  };
  const change = async (child: Child, skillId: string, instructions: string): Promise<void> => {
    const path = `${CORE}/skills/${skillId}`;
    expect((await cluster.call(child, path, { method: 'PUT', body: { instructions } })).status).toBe(200);
    expect((await post(child, `${path}/publish`, {})).status).toBe(200);
  };
  const list = (turn: number, skillId: string) => post<Item>(on(turn), MARKET, { skillId });
  const install = (turn: number, entryId: string, place: string) =>
    post<Item>(on(turn), `${MARKET}/${entryId}/installations`, { scope: 'space', spaceId: place });
  const remove = (turn: number, path: string) => cluster.call(on(turn), path, { method: 'DELETE' });
  const numbersOf = async (child: Child, entryId: string): Promise<readonly number[]> =>
    (
      await cluster.call<List<{ number: number }>>(child, `${CORE}/skills/${entryId}/versions?limit=100`)
    ).body.items.map(({ number }) => number);
  const installedIn = async (child: Child, place: string): Promise<readonly string[]> =>
    (await cluster.call<List<Item>>(child, `${CORE}/skills?spaceId=${place}&limit=100`)).body.items.map(({ id }) => id);

  it(
    'a Skill that both list at once is one entry, and what changed in it one version more',
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const skillId = await published(`Listed ${round}`);
        const answers = await Promise.all(Array.from({ length: 6 }, (_, turn) => list(turn, skillId)));
        expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 201)).toEqual([]);
        expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
        const entryId = answers[0]?.body.id ?? '';
        await change(on(round), skillId, 'Do it anew.');
        const again = await Promise.all(Array.from({ length: 6 }, (_, turn) => list(turn, skillId)));
        expect(again.map(({ body }) => body.id)).toEqual(Array(6).fill(entryId));
        for (const child of apis)
          await eventually(
            async () => (await numbersOf(child, entryId)).toSorted().join() === '1,2',
            'both versions, once each',
          );
      }
    },
    LONG,
  );

  it(
    'a place that both install an entry in has it once, until one of them takes it away',
    async () => {
      const { body: entry } = await list(0, await published('Installed'));
      for (let round = 0; round < ROUNDS; round += 1) {
        const place = await newSpace(round);
        const answers = await Promise.all(Array.from({ length: 6 }, (_, turn) => install(turn, entry.id, place)));
        expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array<number>(5).fill(409)]);
        const path = `${MARKET}/${entry.id}/installations/${answers.find(({ status }) => status === 201)?.body.id}`;
        for (const child of apis)
          await eventually(async () => (await installedIn(child, place)).join() === entry.id, 'what is installed');
        const gone = await Promise.all([0, 1, 2, 3].map((turn) => remove(turn, path)));
        expect(gone.map(({ status }) => status)).toContain(204);
        // Its name is free in both.
        const next = await install(round + 1, entry.id, place);
        expect(next.status).toBe(201);
        expect((await install(round, entry.id, place)).body.code).toBe('name_taken');
      }
    },
    LONG,
  );

  it(
    'an entry that one archives is installed by none who asks the other later, and what was installed meanwhile is whole',
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { body: entry } = await list(round, await published(`Archived ${round}`));
        const places = await Promise.all(Array.from({ length: 5 }, (_, turn) => newSpace(turn)));
        const asks = places.map((place, turn) => async () => (await install(turn, entry.id, place)).status);
        const archive = async () => (await remove(round, `${MARKET}/${entry.id}`)).status;
        const statuses = await Promise.all(asks.toSpliced(round, 0, archive).map((ask) => ask()));
        expect(statuses.splice(round, 1)).toEqual([204]);
        expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([]);
        // In places that have nothing of that name.
        for (const turn of [0, 1]) expect((await install(turn, entry.id, await newSpace(turn))).status).toBe(409);
        for (const [n, place] of places.entries()) {
          await eventually(
            async () => (await installedIn(on(n + 1), place)).join() === (statuses[n] === 201 ? entry.id : ''),
            'what was installed',
          );
        }
        const listed = async (child: Child) =>
          (await cluster.call<List<Item>>(child, `${MARKET}?limit=100`)).body.items.some(({ id }) => id === entry.id);
        for (const child of apis) await eventually(async () => !(await listed(child)), 'an entry that is not listed');
        expect((await post(on(round + 1), `${MARKET}/${entry.id}/restore`, {})).status).toBe(200);
        for (const child of apis) await eventually(() => listed(child), 'an entry that is listed again');
      }
    },
    LONG,
  );
};

const missing = missingForCluster();
describe('the marketplace of several processes', () => {
  if (missing === undefined) specs();
  else it.todo(`skipped: ${missing}`);
});
