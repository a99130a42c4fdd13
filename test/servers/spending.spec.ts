import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Child } from '../e2e/child';
import { behaves, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { type Cluster, eventually, missingForCluster, startCluster } from './cluster';
import { writeModelsFile } from '../fixtures/models-file';

const LONG = 600_000;
const CORE = '/api/v1/core';
/** What each call costs, and no more is held: 17 tokens out at 2 and 1 in at 1, by the million. */
const COST = 0.0000354;

interface LimitState {
  readonly id: string;
  readonly spent: string;
  readonly held: string;
}

const specs = (): void => {
  let folder: string;
  let upstream: UpstreamDouble;
  let cluster: Cluster;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cluster-spending-'));
    upstream = await startUpstreamDouble();
    const file = writeModelsFile(folder, upstream, [
      { key: 'm', kind: 'chat', pricing: { currency: 'USD', input: '1', output: '2' } },
    ]);
    cluster = await startCluster(undefined, { MODELS_FILE: file });
  }, LONG);
  afterEach(async () => {
    await cluster.destroy();
    await upstream.stop();
    rmSync(folder, { recursive: true });
  }, LONG);

  const chat = (child: Child) =>
    cluster.call(child, '/api/compat/v1/chat/completions', {
      method: 'POST',
      body: { model: 'm', messages: [{ role: 'user', content: 'Hello?' }], max_completion_tokens: 17 },
    });
  const limited = async (child: Child, amount: number) =>
    (
      await cluster.call<LimitState>(child, `${CORE}/cost-control`, {
        method: 'POST',
        body: { scope: { type: 'instance' }, amount: amount.toFixed(9), window: 'total' },
      })
    ).body.id;
  const state = async (child: Child, id: string) =>
    (await cluster.call<LimitState>(child, `${CORE}/cost-control/${id}`)).body;

  it(
    'a limit holds over API processes: of fifty calls at once through two, eleven at most where there is room for ten',
    async () => {
      const [first, second] = await Promise.all([
        cluster.start('api'),
        cluster.start('api'),
        cluster.start('projector'),
      ]);
      const id = await limited(first, 10 * COST);
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) => chat(index % 2 === 0 ? first : second)),
      );
      const admitted = answers.filter(({ status }) => status === 200).length;
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
      expect(admitted).toBeLessThanOrEqual(11);
      expect(upstream.calls).toHaveLength(admitted);
      await eventually(async () => (await state(second, id)).held === '0', 'the settlement');
      expect(Number((await state(first, id)).spent)).toBeCloseTo(admitted * COST, 9);
    },
    LONG,
  );

  it(
    'what an API process held that died comes free for the others',
    async () => {
      const [dying, living] = await Promise.all([
        cluster.start('api'),
        cluster.start('api'),
        cluster.start('projector'),
      ]);
      const id = await limited(dying, COST / 2);
      upstream.behaviour = () => undefined;
      const lost = chat(dying).catch((error: unknown) => error);
      await eventually(async () => upstream.calls.length === 1, 'the call');
      upstream.behaviour = behaves;
      expect((await chat(living)).status).toBe(429);
      await cluster.kill(dying);
      expect(await lost).toBeInstanceOf(Error);
      await eventually(async () => (await state(living, id)).held === '0', 'what was held');
      expect((await chat(living)).status).toBe(200);
      await eventually(async () => Number((await state(living, id)).spent) > 0, 'the settlement');
    },
    LONG,
  );
};

const missing = missingForCluster();
describe('spending over processes that share servers', () => {
  if (missing === undefined) specs();
  else it.todo(`skipped: ${missing}`);
});
