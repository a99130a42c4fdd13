import { until } from '../fixtures/until';
import { call, killedProduct } from './killed-product';
import { BATCH, countedEmbeddings } from './knowledge/counted-embeddings';

/** Fault 37: kill -9 at and inside each step of ingestion. It goes on at its step, and embeds one batch again at most. */
const CHUNKS = 40;

const product = killedProduct('ingestion');
const model = countedEmbeddings(product.folder);
const { texts } = model;
/** A document whose every sentence is a chunk of its own. */
const contentOf = (name: string): string =>
  Array.from({ length: CHUNKS }, (_, index) => `# ${index}\n\nThe sentence ${index} of ${name}.`).join('\n\n');

const start = (more: Readonly<Record<string, string>> = {}, script?: string) =>
  product.start({ ...more, MODELS_FILE: model.modelsFile() }, script);

interface Document {
  readonly id: string;
  readonly status: string;
}

test('a document whose ingestion was killed is ingested after the next start, its passages once', async () => {
  let child = await start();
  const agent = await call<{ id: string }>(child, 'core/agents', 'POST', { name: 'Guide', knowledgeEnabled: true });
  const calls = model.silentIn(() => true);
  const added = await call<Document>(child, `core/knowledge/${agent.id}/documents`, 'POST', {
    name: 'a.md',
    content: '# Zebras\n\nThey sleep standing up.',
    mimeType: 'text/markdown',
  });
  await until(() => calls() > 0, 'the call of the embedding model');
  await until(
    async () =>
      (await call<Document>(child, `core/knowledge/${agent.id}/documents/${added.id}`)).status === 'Processing',
    'the document in work',
  );
  child.kill('SIGKILL');
  await child.exited;

  model.answersAll();
  child = await start();
  await until(
    async () => (await call<Document>(child, `core/knowledge/${agent.id}/documents/${added.id}`)).status === 'Ready',
    'the end of ingestion',
  );
  expect(texts).toHaveLength(2);
  const found = await call<{ items: { text: string }[] }>(child, `core/knowledge/${agent.id}/search`, 'POST', {
    query: 'zebras sleep',
    mode: 'text',
  });
  expect(found.items.map(({ text }) => text)).toEqual(['They sleep standing up.']);
  const logs = async () =>
    (
      await call<{ items: { event: string; attempt: number | null }[] }>(
        child,
        `core/knowledge/${agent.id}/documents/${added.id}/logs`,
      )
    ).items;
  await until(async () => (await logs()).some(({ event }) => event === 'ready'), 'the end in the logs');
  expect((await logs()).filter(({ event }) => event === 'started').map(({ attempt }) => attempt)).toEqual([2, 1]);
  await child.stop();
});

test('a document whose ingestion was killed in the middle of a call embeds that batch again, and no other', async () => {
  let child = await start();
  const agent = await call<{ id: string }>(child, 'core/agents', 'POST', { name: 'Guide', knowledgeEnabled: true });
  const calls = model.silentIn((call) => call >= 2);
  const { id } = await call<Document>(child, `core/knowledge/${agent.id}/documents`, 'POST', {
    name: 'a.md',
    content: contentOf('a'),
    mimeType: 'text/markdown',
  });
  await until(() => calls() === 2, 'the second call of the embedding model');
  child.kill('SIGKILL');
  await child.exited;
  model.answersAll();
  child = await start();
  await until(
    async () => (await call<Document>(child, `core/knowledge/${agent.id}/documents/${id}`)).status === 'Ready',
    'the end of ingestion',
  );
  expect(texts).toHaveLength(CHUNKS + BATCH);
  await child.stop();
});

test('a document is ingested to its end, whatever its ingestion was killed before: each append, and each body', async () => {
  const deaths = [
    ...Array.from({ length: 6 }, (_, index) => `append ${index + 1}`),
    ...Array.from({ length: 5 }, (_, index) => `put ${index + 1}`),
  ];
  model.answersAll();
  const startDying = (death: string) => start({ DIE_BEFORE: death }, 'test/faults/processes/dying-ingestion-child.ts');
  let child = await start();
  const agent = await call<{ id: string }>(child, 'core/agents', 'POST', { name: 'Guide', knowledgeEnabled: true });
  await child.stop();
  const added = async () =>
    (await call<{ items: (Document & { name: string })[] }>(child, `core/knowledge/${agent.id}/documents?limit=100`))
      .items;
  for (const death of deaths) {
    child = await startDying(death);
    // What another death would kill once more might embed another batch again.
    await until(async () => (await added()).every(({ status }) => status === 'Ready'), 'the end of those before');
    // It may die before it has answered.
    await call<Document>(child, `core/knowledge/${agent.id}/documents`, 'POST', {
      name: `${death}.md`,
      content: contentOf(death),
      mimeType: 'text/markdown',
    }).catch((error: unknown) => expect(error).toBeInstanceOf(TypeError));
    let isDead = false;
    void child.exited.then(() => (isDead = true));
    await until(() => isDead, `the death before ${death}`);
  }
  child = await start();
  await until(async () => (await added()).length === deaths.length, 'every document');
  const ids = new Map((await added()).map(({ id, name }) => [name, id]));
  for (const death of deaths) {
    const path = `core/knowledge/${agent.id}/documents/${ids.get(`${death}.md`)}`;
    await until(async () => (await call<Document>(child, path)).status === 'Ready', `the end of ${death}`);
    const embedded = texts.filter((text) => text.endsWith(` of ${death}.`));
    expect([death, new Set(embedded).size]).toEqual([death, CHUNKS]);
    expect(embedded.length - CHUNKS).toBeLessThanOrEqual(BATCH);
    const chunks = await call<{ items: { ordinal: number }[] }>(child, `${path}/chunks?limit=100`);
    expect(chunks.items.map(({ ordinal }) => ordinal)).toEqual([...Array(CHUNKS).keys()]);
  }
  await child.stop();
}, 240_000);
