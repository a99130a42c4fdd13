import { readFileSync, writeFileSync } from 'node:fs';
import type { Child } from '../e2e/child';
import { type Cluster, eventually, missingForCluster, startCluster } from './cluster';
import { CORE, type List, OPERATIONS, watching } from './watching';

/** Faults 13 and 46 with processes of their own on servers that all share; `test/faults/processes` kills and stops them. */

const LONG = 600_000;
/** More than operators ask for here. */
const LIMIT = 2_000;

const specs = (): void => {
  let cluster: Cluster;
  beforeEach(async () => (cluster = await startCluster(undefined, { RATE_LIMIT_PER_MINUTE: String(LIMIT) })), LONG);
  afterEach(() => cluster.destroy(), LONG);

  const { post, events, divided, settled, rebuild } = watching(() => cluster);

  it(
    'two instances boot on empty servers together: one makes what is made once, both serve',
    async () => {
      const [first, second] = await Promise.all([
        cluster.start('api', 'projector', 'worker'),
        cluster.start('api', 'projector', 'worker'),
      ]);
      await divided(first, 4, 4);
      await settled(second);
      const created = await post(first, `${CORE}/spaces`, { name: 'Shared' });
      expect(created.status).toBe(201);
      const after = { 'x-read-after': created.headers.get('x-log-position') ?? '' };
      expect((await cluster.call(second, `${CORE}/spaces/${created.body.id}`, { headers: after })).status).toBe(200);
      expect(
        [await events(first, 'UserCreated'), await events(second, 'ApiKeyCreated')].map(({ length }) => length),
      ).toEqual([1, 1]);
      const views = (await cluster.call<List<{ version: number }>>(second, OPERATIONS)).body.items;
      expect(views.map(({ version }) => version)).toEqual(views.map(() => 1));
    },
    LONG,
  );

  it(
    'what one API process does holds in the other at once, and operators reach the projectors through either',
    async () => {
      const [first, second] = await Promise.all([
        cluster.start('api'),
        cluster.start('api'),
        cluster.start('projector'),
        cluster.start('projector'),
      ]);
      await divided(first, 4, 4);
      const user = await post(first, `${CORE}/users`, { email: 'reader@example.com', name: 'Reader', role: 'member' });
      const key = await post<{ id: string; secret: string }>(second, `${CORE}/api-keys`, {
        name: 'k',
        userId: user.body.id,
        permissions: ['llm'],
        agentIds: [],
        allAgents: true,
      });
      expect((await cluster.call(first, `${CORE}/agents`, { key: key.body.secret })).status).not.toBe(401);
      await cluster.call(first, `${CORE}/api-keys/${key.body.id}`, { method: 'DELETE' });
      expect((await cluster.call(second, `${CORE}/agents`, { key: key.body.secret })).status).toBe(401);

      // A minute's requests are counted over both.
      const reader = await post<{ secret: string }>(second, `${CORE}/api-keys`, {
        name: 'r',
        userId: user.body.id,
        permissions: ['agents:read'],
        agentIds: [],
        allAgents: true,
      });
      const minute = (): number => Math.floor(Date.now() / 60_000);
      // Of two minutes the first counts for the second, which may then reject all: every answer tells whether it is rejected at all.
      const every = new Set<number>();
      const ask = async (): Promise<readonly number[]> => {
        const began = minute();
        const answers: number[] = [];
        while (answers.length < LIMIT * 1.2)
          answers.push(
            ...(await Promise.all(
              Array.from(
                { length: 100 },
                async (_, index) =>
                  (await cluster.call(index % 2 === 0 ? first : second, `${CORE}/agents`, { key: reader.body.secret }))
                    .status,
              ),
            )),
          );
        answers.forEach((answer) => every.add(answer));
        return minute() === began ? answers : ask();
      };
      const answers = await ask();
      expect([...every].toSorted()).toEqual([200, 429]);
      expect(answers.filter((answer) => answer === 200).length).toBeLessThanOrEqual(LIMIT);

      const repeated = { 'idempotency-key': 'once' };
      const spaces = await Promise.all(
        [first, second, first].map((child) =>
          cluster.call(child, `${CORE}/spaces`, { method: 'POST', body: { name: 'Once' }, headers: repeated }),
        ),
      );
      const made = spaces.filter(({ status: answer }) => answer === 201).map(({ body }) => body.id);
      expect([
        made.length > 0,
        new Set(made).size,
        (await events(first, 'SpaceCreated')).filter(({ stream }) => made.some((id) => stream === `space-${id}`))
          .length,
      ]).toEqual([true, 1, 1]);

      expect((await post(second, `${OPERATIONS}/agents/rebuild`, { swap: true })).status).toBe(202);
      await eventually(async () => (await rebuild(first, 'agents'))?.state === 'swapped', 'the rebuild');
      expect((await rebuild(first, 'agents'))?.verification?.equal).toBe(true);
      expect((await post(first, `${OPERATIONS}/agents/retire`, {})).status).toBe(200);
      expect((await post(second, `${OPERATIONS}/agents/retire`, {})).status).toBe(409);
    },
    LONG,
  );

  it(
    'a model catalogue that one process reads again is read again by all',
    async () => {
      const [first, second] = await Promise.all([cluster.start('api'), cluster.start('api')]);
      const models = async (child: Child): Promise<readonly string[]> =>
        (await cluster.call<{ data: readonly { id: string }[] }>(child, '/api/compat/v1/models')).body.data.map(
          ({ id }) => id,
        );
      expect([await models(first), await models(second)].flat()).not.toContain('added');
      const catalogue = JSON.parse(readFileSync(cluster.modelsFile, 'utf8')) as { models: object[] };
      writeFileSync(
        cluster.modelsFile,
        JSON.stringify({
          ...catalogue,
          models: [...catalogue.models, { key: 'added', provider: 'double', kind: 'chat', pricing: 'free' }],
        }),
      );
      expect((await cluster.call(first, '/api/v1/operations/models/reload', { method: 'POST' })).status).toBe(200);
      expect(await models(first)).toContain('added');
      await eventually(async () => (await models(second)).includes('added'), 'the other process');
    },
    LONG,
  );
};

const missing = missingForCluster();
describe('processes that share servers', () => {
  if (missing === undefined) specs();
  else it.todo(`skipped: ${missing}`);
});
