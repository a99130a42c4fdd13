import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../e2e/child';
import { embedByLength, type ProviderDouble, startProviderDouble } from '../fixtures/provider-double';
import { until } from '../fixtures/until';

/** Fault 37: kill -9 at and inside each step of ingestion. It goes on at its step, and embeds one batch again at most. */
const KEY = 'ingestion-test-key-0123456789-abcdefghijklmnop';

/** Texts in one call of the embedding model. */
const BATCH = 16;
const CHUNKS = 40;

let dataDir: string;
let provider: ProviderDouble;
/** What was embedded, again too, and billed. */
const texts: string[] = [];
const counting: ProviderDouble['answer'] = (path, body, response) => {
  texts.push(...(body['input'] as string[]));
  embedByLength(path, body, response);
};
/** A document whose every sentence is a chunk of its own. */
const contentOf = (name: string): string =>
  Array.from({ length: CHUNKS }, (_, index) => `# ${index}\n\nThe sentence ${index} of ${name}.`).join('\n\n');
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'ingestion-'));
  provider = await startProviderDouble();
  texts.length = 0;
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

const start = (script = 'apps/api/src/main.ts', more: Readonly<Record<string, string>> = {}) =>
  startChild(script, {
    ...more,
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
  provider.answer = (_, body) => void texts.push(...(body['input'] as string[]));
  const added = await call<Document>(child, `knowledge/${agent.id}/documents`, 'POST', {
    name: 'a.md',
    content: '# Zebras\n\nThey sleep standing up.',
    mimeType: 'text/markdown',
  });
  await until(() => provider.calls.length > 0, 'the call of the embedding model');
  await until(
    async () => (await call<Document>(child, `knowledge/${agent.id}/documents/${added.id}`)).status === 'Processing',
    'the document in work',
  );
  child.kill('SIGKILL');
  await child.exited;

  provider.answer = counting;
  child = await start();
  await until(
    async () => (await call<Document>(child, `knowledge/${agent.id}/documents/${added.id}`)).status === 'Ready',
    'the end of ingestion',
  );
  expect(texts).toHaveLength(2);
  const found = await call<{ items: { text: string }[] }>(child, `knowledge/${agent.id}/search`, 'POST', {
    query: 'zebras sleep',
    mode: 'text',
  });
  expect(found.items.map(({ text }) => text)).toEqual(['They sleep standing up.']);
  const logs = async () =>
    (
      await call<{ items: { event: string; attempt: number | null }[] }>(
        child,
        `knowledge/${agent.id}/documents/${added.id}/logs`,
      )
    ).items;
  await until(async () => (await logs()).some(({ event }) => event === 'ready'), 'the end in the logs');
  expect((await logs()).filter(({ event }) => event === 'started').map(({ attempt }) => attempt)).toEqual([2, 1]);
  await child.stop();
});

test('a document whose ingestion was killed in the middle of a call embeds that batch again, and no other', async () => {
  let child = await start();
  const agent = await call<{ id: string }>(child, 'agents', 'POST', { name: 'Guide', knowledgeEnabled: true });
  let calls = 0;
  provider.answer = (path, body, response) => {
    if ((calls += 1) < 2) return counting(path, body, response);
    texts.push(...(body['input'] as string[]));
  };
  const { id } = await call<Document>(child, `knowledge/${agent.id}/documents`, 'POST', {
    name: 'a.md',
    content: contentOf('a'),
    mimeType: 'text/markdown',
  });
  await until(() => calls === 2, 'the second call of the embedding model');
  child.kill('SIGKILL');
  await child.exited;
  provider.answer = counting;
  child = await start();
  await until(
    async () => (await call<Document>(child, `knowledge/${agent.id}/documents/${id}`)).status === 'Ready',
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
  provider.answer = counting;
  const startDying = (death: string) => start('test/faults/processes/dying-ingestion-child.ts', { DIE_BEFORE: death });
  let child = await start();
  const agent = await call<{ id: string }>(child, 'agents', 'POST', { name: 'Guide', knowledgeEnabled: true });
  await child.stop();
  const added = async () =>
    (await call<{ items: (Document & { name: string })[] }>(child, `knowledge/${agent.id}/documents?limit=100`)).items;
  for (const death of deaths) {
    child = await startDying(death);
    // What another death would kill once more might embed another batch again.
    await until(async () => (await added()).every(({ status }) => status === 'Ready'), 'the end of those before');
    // It may die before it has answered.
    await call<Document>(child, `knowledge/${agent.id}/documents`, 'POST', {
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
    const path = `knowledge/${agent.id}/documents/${ids.get(`${death}.md`)}`;
    await until(async () => (await call<Document>(child, path)).status === 'Ready', `the end of ${death}`);
    const embedded = texts.filter((text) => text.endsWith(` of ${death}.`));
    expect([death, new Set(embedded).size]).toEqual([death, CHUNKS]);
    expect(embedded.length - CHUNKS).toBeLessThanOrEqual(BATCH);
    const chunks = await call<{ items: { ordinal: number }[] }>(child, `${path}/chunks?limit=100`);
    expect(chunks.items.map(({ ordinal }) => ordinal)).toEqual([...Array(CHUNKS).keys()]);
  }
  await child.stop();
}, 240_000);
