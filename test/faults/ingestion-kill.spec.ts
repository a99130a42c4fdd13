import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../e2e/child';
import { embedByLength, type ProviderDouble, startProviderDouble } from '../fixtures/provider-double';
import { until } from '../fixtures/until';

/** Fault 37: kill -9 in the middle of ingestion. */
const KEY = 'ingestion-test-key-0123456789-abcdefghijklmnop';

let dataDir: string;
let provider: ProviderDouble;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'ingestion-'));
  provider = await startProviderDouble();
  const models = [{ key: 'lengths', provider: 'double', kind: 'embedding', pricing: 'free' }];
  writeFileSync(
    join(dataDir, 'models.json'),
    JSON.stringify({
      embeddingModel: 'lengths',
      providers: { double: { kind: 'openai', baseUrl: provider.baseUrl } },
      models,
    }),
  );
});
afterEach(async () => {
  await provider.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const start = () =>
  startChild('apps/api/src/main.ts', {
    DATA_DIR: dataDir,
    MODELS_FILE: join(dataDir, 'models.json'),
    PORT: '0',
    BOOTSTRAP_API_KEY: KEY,
    LOG_LEVEL: 'warn',
  });

const call = async <T>({ url }: Child, path: string, method = 'GET', body?: unknown): Promise<T> => {
  const response = await fetch(`${url}/api/v1/core/${path}`, {
    method,
    headers: { 'x-api-key': KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as T;
};

interface Document {
  readonly id: string;
  readonly status: string;
}

test('a document whose ingestion was killed is ingested after the next start, its passages once', async () => {
  let child = await start();
  const agent = await call<{ id: string }>(child, 'agents', 'POST', { name: 'Guide', knowledgeEnabled: true });
  provider.answer = () => undefined;
  const added = await call<Document>(child, `knowledge/${agent.id}/documents`, 'POST', {
    name: 'a.md',
    content: '# Zebras\n\nThey sleep standing up.',
    mimeType: 'text/markdown',
  });
  await until(() => provider.calls.length > 0, 'the call of the embedding model');
  expect((await call<Document>(child, `knowledge/${agent.id}/documents/${added.id}`)).status).toBe('Processing');
  child.kill('SIGKILL');
  await child.exited;

  provider.answer = embedByLength;
  child = await start();
  await until(
    async () => (await call<Document>(child, `knowledge/${agent.id}/documents/${added.id}`)).status === 'Ready',
    'the end of ingestion',
  );
  const found = await call<{ items: { text: string }[] }>(child, `knowledge/${agent.id}/search`, 'POST', {
    query: 'zebras sleep',
    mode: 'text',
  });
  expect(found.items.map(({ text }) => text)).toEqual(['They sleep standing up.']);
  const logs = await call<{ items: { event: string; attempt: number | null }[] }>(
    child,
    `knowledge/${agent.id}/documents/${added.id}/logs`,
  );
  expect(logs.items.filter(({ event }) => event === 'started').map(({ attempt }) => attempt)).toEqual([2, 1]);
  await child.stop();
});
