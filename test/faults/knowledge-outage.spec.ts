import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../e2e/child';
import { EVER } from '../fixtures/ever';
import { ownTime } from '../fixtures/own-time';
import { until } from '../fixtures/until';
import { OUTAGES, Model } from './knowledge/failing-model';
import { fillWith, tinyFileSystem } from './log/small-disk';

/** Fault 38: what Knowledge needs is away. Searches and answers go on without it or say so in time; documents wait, and are Ready once it is back, billed once. */
const KEY = 'knowledge-test-key-0123456789-abcdefghijklmnop';
/** Texts in one call of the embedding model. */
const BATCH = 16;
/** What a text costs here, whoever embeds it: ten tokens at a dollar a million. */
const MICRODOLLARS = 10;
/** Patience with one model is five seconds; a busy machine adds to it. */
const MOST_MS = 14_000;

let folder: string;
let embedder: Model;
let reranker: Model;
let child: Child;
let agentId: string;

const start = async (dataDir = join(folder, 'data')): Promise<Child> => {
  const pricing = { currency: 'USD', input: '1', output: '0' };
  const modelsFile = join(folder, 'models.json');
  const models = {
    embeddingModel: 'stripes',
    rerankerModel: 'lengths',
    providers: {
      embedder: { kind: 'openai', baseUrl: embedder.baseUrl },
      reranker: { kind: 'openai', baseUrl: reranker.baseUrl },
    },
    models: [
      { key: 'stripes', provider: 'embedder', kind: 'embedding', pricing },
      { key: 'lengths', provider: 'reranker', kind: 'reranker', pricing },
    ],
  };
  writeFileSync(modelsFile, JSON.stringify(models));
  const environment = { DATA_DIR: dataDir, MODELS_FILE: modelsFile, PORT: '0', BOOTSTRAP_API_KEY: KEY };
  return startChild('apps/api/src/main.ts', { ...environment, LOG_LEVEL: 'warn' });
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'knowledge-outage-'));
  embedder = await Model.start(({ input }) => ({
    texts: input as string[],
    body: {
      data: (input as string[]).map((text, index) => ({ index, embedding: [/zebra|stripe/i.test(text) ? 1 : 0, 1] })),
    },
  }));
  reranker = await Model.start(({ documents }) => ({
    texts: documents as string[],
    body: {
      results: (documents as string[]).map((text, index) => ({ index, relevance_score: 1 / (1 + text.length) })),
    },
  }));
  child = await start();
});
beforeEach(async () => {
  agentId = (await send<{ id: string }>('core/agents', { name: 'Guide', knowledgeEnabled: true })).body.id;
  embedder.answered.length = 0;
});
afterEach(async () => {
  embedder.hold = async () => undefined;
  await Promise.all([embedder.become('answers'), reranker.become('answers')]);
});
afterAll(async () => {
  await child.stop();
  await Promise.all([embedder.stop(), reranker.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const send = async <T>(path: string, body?: object): Promise<{ status: number; body: T }> => {
  const response = await fetch(`${child.url}/api/v1/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  return { status: response.status, body: (await response.json()) as T };
};

interface Found {
  readonly items: readonly { readonly documentId: string; readonly vectorRank: number | null }[];
  readonly degraded?: readonly string[];
}
const search = (query: string, given: object = {}) =>
  send<Found>(`core/knowledge/${agentId}/search`, { query, ...given });
const upload = (name: string, content: string) =>
  send<{ id: string }>(`core/knowledge/${agentId}/documents`, { name, content, mimeType: 'text/markdown' });
const statusOf = async (id: string) =>
  (await send<{ status: string; statusDetail?: { code: string } }>(`core/knowledge/${agentId}/documents/${id}`)).body;
const isReady = (id: string) => until(async () => (await statusOf(id)).status === 'Ready', `${id} Ready`);
const added = async (name: string, content: string): Promise<string> => {
  const { id } = (await upload(name, content)).body;
  await isReady(id);
  return id;
};
/** A document whose every section is a chunk of its own. */
const sections = (name: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `# ${index}\n\nThe sentence ${index} of ${name}.`).join('\n\n');
/** What calls of a model were billed in all, millionths of a dollar. */
const billed = async (kind: string): Promise<number> => {
  const { items } = (
    await send<{ items: { kind: string; usage: { cost: string } }[] }>(
      `core/usage/invocations?${EVER}&agentId=${agentId}&limit=100`,
    )
  ).body;
  return Math.round(
    items.filter((each) => each.kind === kind).reduce((sum, { usage }) => sum + Number(usage.cost) * 1e6, 0),
  );
};

describe.each(OUTAGES)('an embedder that %s', (fate) => {
  it('degrades searches and answers in time, and no longer once it is back', async () => {
    const id = await added('Zebra.md', 'A zebra has stripes.');
    await embedder.become(fate);
    const took = ownTime();
    const [hybrid, text, vector, asked] = await Promise.all([
      search('zebra'),
      search('zebra', { mode: 'text' }),
      search('zebra', { mode: 'vector' }),
      send(`core/llm/${agentId}/conversation`, { message: 'What has the zebra?' }),
    ]);
    expect(took()).toBeLessThan(MOST_MS);
    const items = [{ documentId: id, vectorRank: null }];
    expect(hybrid).toMatchObject({ status: 200, body: { degraded: ['vector'], items } });
    expect(text).toMatchObject({ status: 200, body: { items } });
    expect(text.body).not.toHaveProperty('degraded');
    expect(vector).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(asked).toMatchObject({ status: 200, body: { message: { status: 'complete', degraded: ['vector'] } } });

    await embedder.become('answers');
    await until(async () => (await search('zebra')).body.degraded === undefined, 'the vectors');
    expect((await search('zebra', { mode: 'vector' })).body.items).toMatchObject([{ documentId: id, vectorRank: 1 }]);
  });

  it('keeps a document waiting, which is Ready by itself once it is back, every text billed once', async () => {
    await embedder.become(fate);
    const { id } = (await upload('a.md', sections('a', BATCH + 4))).body;
    if (fate === 'hangs') await until(() => embedder.calls > 0, 'the call');
    else {
      await until(async () => (await statusOf(id)).statusDetail !== undefined, 'a failed attempt');
      expect(await statusOf(id)).toMatchObject({ statusDetail: { code: 'upstream_error' } });
    }
    expect(['Pending', 'Processing']).toContain((await statusOf(id)).status);
    await embedder.become('answers');
    await isReady(id);
    expect(embedder.answered).toHaveLength(BATCH + 4);
    await until(async () => (await billed('embedding')) >= (BATCH + 4) * MICRODOLLARS, 'the bill');
    expect(await billed('embedding')).toBe((BATCH + 4) * MICRODOLLARS);
  });
});

test('an embedder that dies in the middle and stays away for long: documents wait, ever longer, and go on where they were', async () => {
  let calls = 0;
  embedder.hold = async () => {
    if ((calls += 1) === 2) await embedder.become('is gone');
  };
  const { id } = (await upload('a.md', sections('a', 3 * BATCH))).body;
  const retries = async () =>
    (
      await send<{ items: { event: string; at: string; retryAt: string }[] }>(
        `core/knowledge/${agentId}/documents/${id}/logs?limit=100`,
      )
    ).body.items
      .filter(({ event }) => event === 'retrying')
      .toReversed();
  await until(async () => (await retries()).length === 6, 'the sixth failure', { patience: 80_000, every: 100 });
  // The list shows it a moment before or behind the logs.
  await until(async () => (await statusOf(id)).status === 'Pending', 'the document that waits');
  expect(await statusOf(id)).toMatchObject({ status: 'Pending', statusDetail: { code: 'upstream_error' } });
  const pauses = (await retries()).map(({ at, retryAt }) => Math.round((Date.parse(retryAt) - Date.parse(at)) / 1_000));
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32]);
  await embedder.become('answers');
  await isReady(id);
  expect(embedder.answered).toHaveLength(3 * BATCH);
  expect(new Set(embedder.answered).size).toBe(3 * BATCH);
  await until(async () => (await billed('embedding')) >= 3 * BATCH * MICRODOLLARS, 'the bill');
  expect(await billed('embedding')).toBe(3 * BATCH * MICRODOLLARS);
});

test.each(OUTAGES)(
  'a reranker that %s leaves the order to the search in time, and ranks once it is back',
  async (fate) => {
    const ids = [await added('Long.md', 'A zebra, a zebra, a zebra has stripes.'), await added('Short.md', 'A zebra.')];
    expect((await search('zebra')).body.items[0]).toMatchObject({ documentId: ids[1], rerankRank: 1 });
    await reranker.become(fate);
    const took = ownTime();
    const [found, asked] = await Promise.all([
      search('zebra'),
      send(`core/llm/${agentId}/conversation`, { message: 'What has the zebra?' }),
    ]);
    expect(took()).toBeLessThan(MOST_MS);
    expect(found).toMatchObject({ status: 200, body: { degraded: ['rerank'] } });
    expect(found.body.items.map(({ documentId }) => documentId).toSorted()).toEqual(ids.toSorted());
    expect(found.body.items[0]).not.toHaveProperty('rerankRank');
    expect(asked).toMatchObject({ status: 200, body: { message: { status: 'complete', degraded: ['rerank'] } } });
    await reranker.become('answers');
    await until(async () => (await search('zebra')).body.degraded === undefined, 'the reranker');
  },
);

test('a search file that is damaged inside is built anew once it is read, without a model, and takes what came meanwhile', async () => {
  const id = await added('Zebra.md', 'A zebra has stripes.');
  for (let other = 0; other < 10; other += 1) await added(`${other}.md`, sections(`${other}`, 4));
  const embedded = embedder.answered.length;
  child.kill('SIGKILL');
  await child.exited;
  const index = join(folder, 'data', 'search');
  for (const name of readdirSync(index).filter((each) => /^passages-v\d+\.sqlite(-wal)?$/.test(each))) {
    const bytes = readFileSync(join(index, name));
    // All but the first page: what opens it finds nothing wrong.
    writeFileSync(join(index, name), bytes.fill(0xff, 4_096));
  }
  child = await start();
  const { id: later } = (await upload('Okapi.md', 'An okapi eats leaves.')).body;
  const statuses = new Set<number>();
  let asked = 0;
  await until(async () => {
    statuses.add((await search(`sentence ${(asked += 1)} of zebra`, { mode: 'text', topK: 50 })).status);
    expect((await statusOf(id)).status).toBe('Ready');
    return (await send<{ version: number }>('operations/projections/passages')).body.version > 1;
  }, 'another build');
  expect([...statuses].filter((status) => ![200, 503].includes(status))).toEqual([]);
  await until(async () => (await search('zebra', { mode: 'text' })).body.items?.[0]?.documentId === id, 'the document');
  await isReady(later);
  expect((await search('okapi leaves', { mode: 'text' })).body.items).toMatchObject([{ documentId: later }]);
  expect(embedder.answered).toHaveLength(embedded + 1);
});

test('a disk that is full: uploads are rejected, what is there is found, and ingestion goes on once there is room', async () => {
  const disk = tinyFileSystem(folder, 96);
  if (disk === undefined) return console.warn('not run, since this machine does not allow a small file system');
  const other = child;
  try {
    child = await start(disk.folder);
    agentId = (await send<{ id: string }>('core/agents', { name: 'Guide', knowledgeEnabled: true })).body.id;
    const zebra = await added('Zebra.md', 'A zebra has stripes.');
    let isFull = false;
    embedder.hold = async () => {
      if (!isFull) fillWith(disk.ballast);
      isFull = true;
    };
    const { id } = (await upload('a.md', sections('a', 2 * BATCH))).body;
    await until(() => embedder.answered.length > 1, 'the first batch');
    expect(await upload('late.md', 'Too late.')).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    for (let round = 0; round < 20; round += 1) {
      expect((await search('zebra', { mode: 'text', rerank: false })).body.items).toMatchObject([
        { documentId: zebra },
      ]);
      expect((await statusOf(id)).status).not.toMatch(/Ready|Failed/);
    }
    // What cannot be written down is not asked for again and again.
    expect(embedder.answered.length).toBeLessThanOrEqual(1 + 2 * BATCH);
    disk.free();
    await isReady(id);
    expect((await search('sentence 31', { mode: 'text' })).body.items.map(({ documentId }) => documentId)).toContain(
      id,
    );
    expect(new Set(embedder.answered).size).toBe(1 + 2 * BATCH);
    expect(embedder.answered.length).toBeLessThanOrEqual(1 + 3 * BATCH);
  } finally {
    if (child !== other) await child.stop();
    child = other;
    disk.dispose();
  }
});
