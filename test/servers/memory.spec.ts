import type { Child } from '../e2e/child';
import { type Called, type Cluster, eventually, missingForCluster, startCluster } from './cluster';
import { CORE, type List, watching } from './watching';

/** Memories of processes that share a log, views and keys: requests at once at both of them for what only some may get. */

const LONG = 300_000;
const PLACES = 50;
const ROUNDS = 10;

interface Memory {
  readonly id: string;
  readonly status: string;
  readonly code?: string;
}

const specs = (): void => {
  let cluster: Cluster;
  let apis: readonly [Child, Child];
  let spaceId: string;
  let agentId: string;
  const { post, startPair } = watching(() => cluster);

  beforeAll(async () => {
    cluster = await startCluster(undefined, { MEMORY_SHARED_MAX: String(PLACES) });
    apis = await startPair();
    spaceId = (await post(apis[0], `${CORE}/spaces`, { name: 'Shared' })).body.id;
  }, LONG);
  beforeEach(async () => {
    const agent = await post(apis[0], `${CORE}/agents`, { spaceId, name: 'Guide', sharedMemoryEnabled: true });
    expect(agent.status).toBe(201);
    agentId = agent.body.id;
  }, LONG);
  afterAll(() => cluster.destroy(), LONG);

  const on = (turn: number): Child => apis[turn % 2] as Child;
  const path = (rest = ''): string => `${CORE}/memory/${agentId}/memories${rest}`;
  const outcomes = (answers: readonly Called<Memory>[]): readonly string[] =>
    answers.map(({ status, body }) => (status < 300 ? String(status) : String(body.code))).toSorted();
  const propose = async (turn: number, text: string): Promise<string> => {
    const { status, body } = await post(on(turn), path(), { text, kind: 'shared' });
    expect(status).toBe(201);
    return body.id;
  };
  const choose = (turn: number, id: string, choice: string): Promise<Called<Memory>> =>
    cluster.call<Memory>(on(turn), path(`/${id}/${choice}`), { method: 'POST' });
  const listed = async (child: Child, status: string): Promise<readonly string[]> =>
    (await cluster.call<List<Memory>>(child, path(`?status=${status}&limit=100`))).body.items
      .map(({ id }) => id)
      .toSorted();
  /** Waits until both processes list these. */
  const assertListed = async (status: string, ids: readonly string[]): Promise<void> => {
    const wanted = ids.toSorted().join();
    for (const child of apis)
      await eventually(async () => (await listed(child, status)).join() === wanted, `those that are ${status}`);
  };

  it(
    'one of fifty who confirm in both processes gets the last free place; the others stay proposed',
    async () => {
      const taken: string[] = [];
      for (let turn = 0; turn < PLACES - 1; turn += 1) {
        const id = await propose(turn, `Taken ${turn}`);
        expect((await choose(turn + 1, id, 'confirm')).status).toBe(200);
        taken.push(id);
      }
      const wishes: string[] = [];
      for (let turn = 0; turn < 50; turn += 1) wishes.push(await propose(turn, `Wish ${turn}`));
      const answers = await Promise.all(wishes.map((id, turn) => choose(turn, id, 'confirm')));
      expect(outcomes(answers)).toEqual(['200', ...Array<string>(49).fill('memory_full')]);
      const won = wishes.filter((_, turn) => answers[turn]?.status === 200);
      await assertListed('saved', [...taken, ...won]);
      await assertListed(
        'proposed',
        wishes.filter((id) => !won.includes(id)),
      );
      // The place of what is deleted in one process is free in the other.
      expect((await cluster.call(apis[0], path(`/${won[0]}`), { method: 'DELETE' })).status).toBe(204);
      const [next = ''] = wishes.filter((id) => !won.includes(id));
      expect((await choose(1, next, 'confirm')).status).toBe(200);
      await assertListed('saved', [...taken, next]);
    },
    LONG,
  );

  it(
    'who confirms in one process and who discards in the other get one outcome',
    async () => {
      const kept: string[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const id = await propose(round, `Round ${round}`);
        const [confirmed, discarded] = await Promise.all([
          choose(round, id, 'confirm'),
          choose(round + 1, id, 'discard'),
        ]);
        const isKept = confirmed.status === 200;
        expect(outcomes([confirmed, discarded])).toEqual([isKept ? '200' : '204', 'conflict']);
        if (isKept) kept.push(id);
      }
      await assertListed('saved', kept);
      await assertListed('proposed', []);
    },
    LONG,
  );

  it.each([
    ['memory', { memoryEnabled: false }],
    ['sharing', { sharedMemoryEnabled: false }],
  ])(
    'who switches %s off in one process is not overtaken by who confirms later in the other',
    async (_what, off) => {
      const early: string[] = [];
      const late: string[] = [];
      for (let turn = 0; turn < 6; turn += 1) {
        early.push(await propose(turn, `Early ${turn}`));
        late.push(await propose(turn, `Late ${turn}`));
      }
      const [change, ...answers] = await Promise.all([
        cluster.call(apis[0], `${CORE}/agents/${agentId}`, { method: 'PUT', body: off }),
        ...early.map((id, turn) => choose(turn, id, 'confirm')),
      ]);
      expect(change.status).toBe(200);
      expect(outcomes(answers).filter((each) => each !== '200' && each !== 'memory_disabled')).toEqual([]);
      const after = await Promise.all(late.map((id, turn) => choose(turn, id, 'confirm')));
      expect(outcomes(after)).toEqual(Array(6).fill('memory_disabled'));
      const proposed = await post<Memory>(apis[1], path(), { text: 'Later still', kind: 'shared' });
      expect([proposed.status, proposed.body.code]).toEqual([409, 'memory_disabled']);
      await assertListed(
        'saved',
        early.filter((_, turn) => answers[turn]?.status === 200),
      );
    },
    LONG,
  );

  it(
    'what both processes are told at once is saved once, and what is cleared in one is gone in the other',
    async () => {
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, turn) => post<Memory>(on(turn), path(), { text: 'I live in Bonn.' })),
      );
      expect(outcomes(answers)).toEqual([...Array<string>(7).fill('200'), '201']);
      const [id = '', ...more] = new Set(answers.map(({ body }) => body.id));
      expect(more).toEqual([]);
      await assertListed('saved', [id]);
      const cleared = await cluster.call(apis[1], path(), { method: 'DELETE' });
      expect(cleared.status).toBe(204);
      await assertListed('saved', []);
      expect((await post<Memory>(apis[0], path(), { text: 'I live in Bonn.' })).status).toBe(201);
    },
    LONG,
  );
};

const missing = missingForCluster();
describe('Memories of several processes', () => {
  if (missing === undefined) specs();
  else it.todo(`skipped: ${missing}`);
});
