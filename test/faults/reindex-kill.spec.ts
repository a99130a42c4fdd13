import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../e2e/child';
import { embedByLength, type ProviderDouble, startProviderDouble } from '../fixtures/provider-double';
import { until } from '../fixtures/until';

/** Kill -9 in the middle of a re-index, or of what follows its swap: it goes on by itself, and embeds one batch again at most. */
const KEY = 'reindex-test-key-0123456789-abcdefghijklmnop';
const BATCH = 16;
const DOCUMENTS = 3;
/** Each sentence is a chunk of its own, since it has a heading of its own. */
const contentOf = (name: string): string =>
  Array.from({ length: 40 }, (_, index) => `# ${index}\n\nSentence ${index} of ${name}. ${'word '.repeat(90)}`).join(
    '\n\n',
  );

let dataDir: string;
let provider: ProviderDouble;
const texts: string[] = [];
const counting: ProviderDouble['answer'] = (path, body, response) => {
  texts.push(...(body['input'] as string[]));
  embedByLength(path, body, response);
};

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'reindex-'));
  provider = await startProviderDouble();
  provider.answer = counting;
  texts.length = 0;
  writeFileSync(
    join(dataDir, 'models.json'),
    JSON.stringify({
      embeddingModel: 'lengths',
      providers: { double: { kind: 'openai', baseUrl: provider.baseUrl } },
      models: [{ key: 'lengths', provider: 'double', kind: 'embedding', pricing: 'free' }],
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
  readonly chunkCount: number;
}

const documentsOf = async (child: Child, agentId: string): Promise<readonly Document[]> =>
  (await call<{ items: readonly Document[] }>(child, `knowledge/${agentId}/documents`)).items;

/** An Agent whose documents are Ready. */
const ingested = async (child: Child): Promise<string> => {
  const { id: agentId } = await call<{ id: string }>(child, 'agents', 'POST', { name: 'Guide' });
  for (let index = 0; index < DOCUMENTS; index += 1)
    await call(child, `knowledge/${agentId}/documents`, 'POST', {
      name: `${index}.md`,
      content: contentOf(`document ${index}`),
      mimeType: 'text/markdown',
    });
  await until(
    async () => (await documentsOf(child, agentId)).every(({ status }) => status === 'Ready'),
    'the end of ingestion',
  );
  return agentId;
};

test.each([1, 2, 4])('killed in its call %i, it goes on, and repeats that batch alone', async (deadly) => {
  let child = await start();
  const agentId = await ingested(child);
  const documents = () => documentsOf(child, agentId);
  await call(child, `agents/${agentId}`, 'PUT', { chunking: { maxTokens: 50, overlapTokens: 0 } });
  const before = (await documents()).map(({ chunkCount }) => chunkCount);
  texts.length = 0;
  let calls = 0;
  provider.answer = (path, body, response) => {
    if ((calls += 1) !== deadly) return counting(path, body, response);
    texts.push(...(body['input'] as string[]));
  };
  await call(child, `knowledge/${agentId}/reindex`, 'POST', {});
  await until(() => calls >= deadly, `call ${deadly} of the embedding model`);
  child.kill('SIGKILL');
  await child.exited;

  provider.answer = counting;
  child = await start();
  const state = () => call<{ state: string }>(child, `knowledge/${agentId}/reindex`).then((job) => job.state);
  await until(async () => (await state()) === 'ready', 'the end of the re-index');
  expect((await documents()).every(({ status }) => status === 'Ready')).toBe(true);
  expect((await documents()).map(({ chunkCount }) => chunkCount)).toEqual(before);
  await call(child, `knowledge/${agentId}/reindex/swap`, 'POST', {});
  await until(
    async () => (await documents()).every(({ chunkCount }, index) => chunkCount > (before[index] ?? 0)),
    'the swap',
  );
  const chunks = (await documents()).reduce((sum, { chunkCount }) => sum + chunkCount, 0);
  expect(texts.length).toBeGreaterThanOrEqual(new Set(texts).size);
  // Equal passages of a document are embedded once for each place.
  expect(texts.length).toBeLessThanOrEqual(chunks + BATCH);
  await child.stop();
});

test('killed while a document that was renamed behind it follows its swap, that document follows all the same', async () => {
  let child = await start();
  const agentId = await ingested(child);
  const documents = () => documentsOf(child, agentId);
  const before = new Map((await documents()).map(({ id, chunkCount }) => [id, chunkCount]));
  await call(child, `agents/${agentId}`, 'PUT', { chunking: { maxTokens: 50, overlapTokens: 0 } });
  await call(child, `knowledge/${agentId}/reindex`, 'POST', {});
  const state = () => call<{ state: string }>(child, `knowledge/${agentId}/reindex`).then((job) => job.state);
  await until(async () => (await state()) === 'ready', 'the end of the re-index');
  const [renamed = ''] = before.keys();
  const renaming = () => texts.filter((text) => text.startsWith('Bison > ')).length;
  await call(child, `knowledge/${agentId}/documents/${renamed}`, 'PUT', { name: 'Bison.md' });
  await until(() => renaming() >= (before.get(renamed) ?? 0), 'the vectors behind the new name');

  texts.length = 0;
  let calls = 0;
  provider.answer = (path, body, response) => {
    if ((calls += 1) !== 2) return counting(path, body, response);
    texts.push(...(body['input'] as string[]));
  };
  await call(child, `knowledge/${agentId}/reindex/swap`, 'POST', {});
  await until(() => calls >= 2, 'a call that is not answered');
  child.kill('SIGKILL');
  await child.exited;

  provider.answer = counting;
  child = await start();
  const isCut = async (isNew: boolean) =>
    (await documents()).every(({ id, chunkCount }) => chunkCount > (before.get(id) ?? 0) === isNew);
  await until(() => isCut(true), 'the swap of all documents');
  expect((await documents()).every(({ status }) => status === 'Ready')).toBe(true);
  const { chunkCount = 0 } = (await documents()).find(({ id }) => id === renamed) ?? {};
  expect(texts.length).toBeLessThanOrEqual(chunkCount + BATCH);
  expect(renaming()).toBe(texts.length);
  await call(child, `knowledge/${agentId}/reindex/rollback`, 'POST', {});
  await until(() => isCut(false), 'the rollback of all documents');
  await child.stop();
});
