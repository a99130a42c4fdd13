import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startTestPlatform, type TestPlatform } from './harness';

interface History {
  readonly items: readonly { readonly changes: readonly { readonly path: string; readonly before: unknown }[] }[];
  readonly nextCursor: string | null;
}

const VERSIONS = 300;
const prompt = (version: number): string => `version ${version} `.padEnd(99_000, 'of a long prompt ');

let platform: TestPlatform;
let agentId: string;

beforeAll(async () => {
  platform = await startTestPlatform();
  agentId = (
    await platform.call<{ id: string }>('/api/v1/core/agents', {
      method: 'POST',
      body: { name: 'Long-lived', systemPrompt: prompt(0) },
    })
  ).body.id;
  for (let version = 1; version < VERSIONS; version += 1)
    await platform.call(`/api/v1/core/agents/${agentId}/prompt`, {
      method: 'PUT',
      body: { systemPrompt: prompt(version) },
    });
}, 120_000);
afterAll(() => platform.stop());

const history = async (query = '') => platform.call<History>(`/api/v1/audit/objects/agent/${agentId}/history${query}`);

it('many histories of many long versions at once hold up nobody and are held in no memory', async () => {
  const megabytes = (): number => {
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / 1024 ** 2;
  };
  const before = megabytes();
  let most = before;
  const sampling = setInterval(() => (most = Math.max(most, megabytes())), 5);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const answers = await Promise.all([...Array(8).keys()].map(() => history('?limit=3')));
  delay.disable();
  clearInterval(sampling);
  expect(answers.map(({ status, body }) => [status, body.items.length])).toEqual(answers.map(() => [200, 3]));
  expect(most - before).toBeLessThan(500);
  expect(delay.max / 1e6).toBeLessThan(400);
}, 120_000);

it('a history is paged through to its beginning, each version once', async () => {
  const seen: unknown[] = [];
  for (let query = ''; ;) {
    const { body } = await history(query);
    for (const { changes } of body.items)
      seen.push(changes.find(({ path }) => path.startsWith('systemPrompt'))?.before);
    if (body.nextCursor === null) break;
    query = `?cursor=${encodeURIComponent(body.nextCursor)}`;
  }
  expect(seen).toHaveLength(VERSIONS);
  expect(seen.slice(0, -1)).toEqual([...Array(VERSIONS - 1).keys()].toReversed().map(prompt));
}, 120_000);
