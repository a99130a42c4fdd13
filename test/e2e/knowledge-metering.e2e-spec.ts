import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVER } from '../fixtures/ever';
import { type ProviderDouble, startProviderDouble } from '../fixtures/provider-double';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

const CORE = '/api/v1/core';
const folder = mkdtempSync(join(tmpdir(), 'knowledge-metering-'));
let platform: TestPlatform;
let provider: ProviderDouble;
let spaceId: string;
let agentId: string;

const send = <T>(path: string, body: object, method: 'POST' | 'PATCH' = 'POST') =>
  platform.call<T>(CORE + path, { method, body });

beforeAll(async () => {
  provider = await startProviderDouble();
  provider.answer = (_path, body, response) => {
    const data = (body['input'] as string[]).map((text, index) => ({ index, embedding: [text.length, 1] }));
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ data, usage: { prompt_tokens: 10, total_tokens: 10 } }));
  };
  const file = join(folder, 'models.json');
  const models = [
    { key: 'lengths', provider: 'double', kind: 'embedding', pricing: { currency: 'USD', input: '1', output: '0' } },
  ];
  writeFileSync(
    file,
    JSON.stringify({
      embeddingModel: 'lengths',
      providers: { double: { kind: 'openai', baseUrl: provider.baseUrl } },
      models,
    }),
  );
  platform = await startTestPlatform({ environment: { MODELS_FILE: file } });
  spaceId = (await send<{ id: string }>('/spaces', { name: 'Research' })).body.id;
  agentId = (await send<{ id: string }>('/agents', { spaceId, name: 'Guide', knowledgeEnabled: true })).body.id;
});
afterAll(async () => {
  await platform.stop();
  await provider.stop();
  rmSync(folder, { recursive: true });
});

const add = async (content: string): Promise<string> =>
  (
    await send<{ id: string }>(`/knowledge/${agentId}/documents`, {
      name: 'a.md',
      content,
      mimeType: 'text/markdown',
      scope: 'agent',
    })
  ).body.id;
const document = async (documentId: string) =>
  (
    await platform.call<{ status: string; statusDetail?: { code: string; step: string } }>(
      `${CORE}/knowledge/${agentId}/documents/${documentId}`,
    )
  ).body;
const isReady = (documentId: string) =>
  until(async () => (await document(documentId)).status === 'Ready', 'the end of ingestion');
const ask = () => send(`/llm/${agentId}/conversation`, { message: 'How do zebras sleep?' });
const search = () => send(`/knowledge/${agentId}/search`, { query: 'zebras' });
const embeddings = async () =>
  (
    await platform.call<{ items: { model: string }[] }>(`${CORE}/usage/invocations?${EVER}&agentId=${agentId}`)
  ).body.items.filter(({ model }) => model === 'lengths');

test('what Knowledge costs is counted and limited: documents, searches and the searches of answers', async () => {
  const limit = (
    await send<{ id: string }>('/cost-control', { scope: { type: 'space', id: spaceId }, amount: '1', window: 'total' })
  ).body.id;
  const spent = async () => (await platform.call(`${CORE}/cost-control/${limit}`)).body;
  await isReady(await add('# Zebras\n\nThey sleep standing up.'));
  expect((await search()).status).toBe(200);
  expect((await ask()).status).toBe(200);
  await until(async () => (await spent())['spent'] === '0.00003', 'three calls');
  await until(async () => (await embeddings()).length === 3, 'three records');
  expect(await embeddings()).toEqual(
    Array.from({ length: 3 }, () =>
      expect.objectContaining({
        kind: 'embedding',
        agentId,
        spaceId,
        outcome: 'ok',
        usageSource: 'upstream',
        usage: expect.objectContaining({ inputTokens: 10, cost: '0.00001' }),
      }),
    ),
  );

  await send(`/cost-control/${limit}`, { amount: '0.00003' }, 'PATCH');
  expect(await search()).toMatchObject({ status: 429, body: { code: 'usage_limit_exceeded', limitId: limit } });
  expect(await ask()).toMatchObject({ status: 429, body: { code: 'usage_limit_exceeded' } });
  const rejected = await add('# Backups\n\nThey run at night.');
  // It is tried again now and then.
  await until(async () => {
    const { status, statusDetail } = await document(rejected);
    return status === 'Pending' && statusDetail?.code === 'usage_limit_exceeded' && statusDetail.step === 'embed';
  }, 'the rejection of a document');
  expect(provider.calls).toHaveLength(3);

  await send(`/cost-control/${limit}`, { amount: '1' }, 'PATCH');
  await isReady(rejected);
});
