import type { Child } from '../e2e/child';
import { until } from '../fixtures/until';
import { call, killedProduct } from './killed-product';
import { BATCH, countedEmbeddings } from './knowledge/counted-embeddings';

/** Kill -9 in the middle of a re-index, or of what follows its swap: it goes on by itself, and embeds one batch again at most. */
const DOCUMENTS = 3;
/** Each sentence is a chunk of its own, since it has a heading of its own. */
const contentOf = (name: string): string =>
  Array.from({ length: 40 }, (_, index) => `# ${index}\n\nSentence ${index} of ${name}. ${'word '.repeat(90)}`).join(
    '\n\n',
  );

const product = killedProduct('reindex');
const model = countedEmbeddings(product.folder);
const { texts } = model;
const start = () => product.start({ MODELS_FILE: model.modelsFile() });

interface Document {
  readonly id: string;
  readonly status: string;
  readonly chunkCount: number;
}

const documentsOf = async (child: Child, agentId: string): Promise<readonly Document[]> =>
  (await call<{ items: readonly Document[] }>(child, `core/knowledge/${agentId}/documents`)).items;

/** An Agent whose documents are Ready. */
const ingested = async (child: Child): Promise<string> => {
  const { id: agentId } = await call<{ id: string }>(child, 'core/agents', 'POST', { name: 'Guide' });
  for (let index = 0; index < DOCUMENTS; index += 1)
    await call(child, `core/knowledge/${agentId}/documents`, 'POST', {
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
  await call(child, `core/agents/${agentId}`, 'PUT', { chunking: { maxTokens: 50, overlapTokens: 0 } });
  const before = (await documents()).map(({ chunkCount }) => chunkCount);
  texts.length = 0;
  const calls = model.silentIn((call) => call === deadly);
  await call(child, `core/knowledge/${agentId}/reindex`, 'POST', {});
  await until(() => calls() >= deadly, `call ${deadly} of the embedding model`);
  child.kill('SIGKILL');
  await child.exited;

  model.answersAll();
  child = await start();
  const state = () => call<{ state: string }>(child, `core/knowledge/${agentId}/reindex`).then((job) => job.state);
  await until(async () => (await state()) === 'ready', 'the end of the re-index');
  expect((await documents()).every(({ status }) => status === 'Ready')).toBe(true);
  expect((await documents()).map(({ chunkCount }) => chunkCount)).toEqual(before);
  await call(child, `core/knowledge/${agentId}/reindex/swap`, 'POST', {});
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
  await call(child, `core/agents/${agentId}`, 'PUT', { chunking: { maxTokens: 50, overlapTokens: 0 } });
  await call(child, `core/knowledge/${agentId}/reindex`, 'POST', {});
  const state = () => call<{ state: string }>(child, `core/knowledge/${agentId}/reindex`).then((job) => job.state);
  await until(async () => (await state()) === 'ready', 'the end of the re-index');
  const [renamed = ''] = before.keys();
  const renaming = () => texts.filter((text) => text.startsWith('Bison > ')).length;
  await call(child, `core/knowledge/${agentId}/documents/${renamed}`, 'PUT', { name: 'Bison.md' });
  await until(() => renaming() >= (before.get(renamed) ?? 0), 'the vectors behind the new name');

  texts.length = 0;
  const calls = model.silentIn((call) => call === 2);
  await call(child, `core/knowledge/${agentId}/reindex/swap`, 'POST', {});
  await until(() => calls() >= 2, 'a call that is not answered');
  child.kill('SIGKILL');
  await child.exited;

  model.answersAll();
  child = await start();
  const isCut = async (isNew: boolean) =>
    (await documents()).every(({ id, chunkCount }) => chunkCount > (before.get(id) ?? 0) === isNew);
  await until(() => isCut(true), 'the swap of all documents');
  expect((await documents()).every(({ status }) => status === 'Ready')).toBe(true);
  const { chunkCount = 0 } = (await documents()).find(({ id }) => id === renamed) ?? {};
  expect(texts.length).toBeLessThanOrEqual(chunkCount + BATCH);
  expect(renaming()).toBe(texts.length);
  await call(child, `core/knowledge/${agentId}/reindex/rollback`, 'POST', {});
  await until(() => isCut(false), 'the rollback of all documents');
  await child.stop();
});
