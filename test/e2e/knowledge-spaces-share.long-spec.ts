import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as lasting } from 'node:timers/promises';
import { embedByLength, type ProviderDouble, startProviderDouble } from '../fixtures/provider-double';
import { ownTime } from '../fixtures/own-time';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

/** How long a call of the embedding model takes. */
const CALL_MS = 150;
const WAITING = 1_000;
/** How many are added at once. */
const TOGETHER = 50;

/** The embedding model answers nobody before. */
let open = Promise.resolve();
const folder = mkdtempSync(join(tmpdir(), 'sharing-'));
let provider: ProviderDouble;
let platform: TestPlatform;
beforeAll(async () => {
  provider = await startProviderDouble();
  provider.answer = (path, body, response) =>
    void open.then(() => lasting(CALL_MS)).then(() => embedByLength(path, body, response));
  const models = [{ key: 'lengths', provider: 'double', kind: 'embedding', pricing: 'free' }];
  const providers = { double: { kind: 'openai', baseUrl: provider.baseUrl } };
  writeFileSync(join(folder, 'models.json'), JSON.stringify({ embeddingModel: 'lengths', providers, models }));
  platform = await startTestPlatform({ environment: { MODELS_FILE: join(folder, 'models.json') } });
});
afterAll(async () => {
  await platform.stop();
  await provider.stop();
  rmSync(folder, { recursive: true });
});

const core = (path: string): string => `/api/v1/core${path}`;
const post = async (path: string, body: object): Promise<string> =>
  (await platform.call<{ id: string }>(core(path), { method: 'POST', body })).body.id;
const agentOfNewSpace = async (name: string): Promise<string> =>
  post('/agents', { spaceId: await post('/spaces', { name }), name, knowledgeEnabled: true });
const add = (agent: string, content: string): Promise<string> =>
  post(`/knowledge/${agent}/documents`, { name: 'a.txt', content, mimeType: 'text/plain' });
const status = async (agent: string, id: string): Promise<string> =>
  (await platform.call<{ status: string }>(core(`/knowledge/${agent}/documents/${id}`))).body.status;

/** Milliseconds from the request that adds a document to Ready, on a machine that does nothing else: of three, the one in the middle. */
const timeToReady = async (agent: string): Promise<number> => {
  const times: number[] = [];
  for (let count = 0; count < 3; count += 1) {
    const took = ownTime();
    const id = await add(agent, `The only document, ${count}.`);
    await until(async () => (await status(agent, id)) === 'Ready', 'the only document of a Space');
    times.push(took());
  }
  return times.toSorted((a, b) => a - b)[1] as number;
};

test("while 1,000 documents of one Space wait, another's only one is Ready within three times its time alone", async () => {
  const [large, small] = [await agentOfNewSpace('Large'), await agentOfNewSpace('Small')];
  const alone = await timeToReady(small);
  let last = '';
  const { promise, resolve } = Promise.withResolvers<void>();
  // They wait, however long it takes to add them.
  open = promise;
  for (let count = 0; count < WAITING; count += TOGETHER) {
    const added = Array.from({ length: TOGETHER }, (_, index) => add(large, `Document ${count + index} of many.`));
    last = (await Promise.all(added)).at(-1) as string;
  }
  resolve();
  const beside = await timeToReady(small);
  expect(await status(large, last)).toBe('Pending');
  expect(beside / alone).toBeLessThanOrEqual(3);
}, 300_000);
