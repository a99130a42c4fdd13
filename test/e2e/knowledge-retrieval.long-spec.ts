import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { EVER } from '../fixtures/ever';
import { ownTime } from '../fixtures/own-time';
import { type ProviderDouble, startProviderDouble } from '../fixtures/provider-double';
import { until } from '../fixtures/until';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

const CORE = '/api/v1/core';
const folder = mkdtempSync(join(tmpdir(), 'knowledge-retrieval-'));
let platform: TestPlatform;
let provider: ProviderDouble;
let agentId: string;
let spaceId: string;

interface Item {
  readonly documentId: string;
  readonly chunkId: string;
  readonly chunkIds: readonly string[];
  readonly text: string;
  readonly position: { readonly start: number; readonly end: number };
  readonly textRank: number | null;
  readonly vectorRank: number | null;
  readonly rerankRank?: number;
}
interface Found {
  readonly items: readonly Item[];
  readonly degraded?: readonly string[];
}

/** What the provider does, by the end of a path; replaced by a test. */
type Answers = Record<'embeddings' | 'rerank', (body: Record<string, unknown>, response: ServerResponse) => void>;
const json = (response: ServerResponse, body: object): void =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const usage = { prompt_tokens: 10, total_tokens: 10 };
const asUsual: Answers = {
  embeddings: ({ input }, response) =>
    json(response, {
      data: (input as string[]).map((text, index) => ({ index, embedding: [/zebra|stripe/i.test(text) ? 1 : 0, 1] })),
      usage,
    }),
  rerank: ({ documents }, response) =>
    json(response, {
      results: (documents as string[]).map((text, index) => ({
        index,
        relevance_score: text.includes('Quagga') ? 0.9 : 0.2,
      })),
      usage,
    }),
};
const down = (_: unknown, response: ServerResponse): void => void response.writeHead(503).end();
const silent = (): void => undefined;
let answers = asUsual;
/** What was logged as an error. */
const errors: string[] = [];
/** Bodies of the calls, by the end of their path. */
const bodies: Record<string, Record<string, unknown>[]> = { embeddings: [], rerank: [] };
/** Rankings that were asked for until now, by all tests. */
let rankings = 0;

beforeAll(async () => {
  provider = await startProviderDouble();
  provider.answer = (path, body, response) => {
    const operation = path.split('/').at(-1) as keyof Answers;
    bodies[operation]?.push(body);
    if (operation === 'rerank') rankings += 1;
    answers[operation](body, response);
  };
  const pricing = { currency: 'USD', input: '1', output: '0' };
  const file = join(folder, 'models.json');
  writeFileSync(
    file,
    JSON.stringify({
      embeddingModel: 'stripes',
      rerankerModel: 'quaggas',
      providers: { double: { kind: 'openai', baseUrl: provider.baseUrl } },
      models: [
        {
          key: 'stripes',
          provider: 'double',
          kind: 'embedding',
          pricing,
          queryPrefix: 'query: ',
          passagePrefix: 'passage: ',
        },
        { key: 'quaggas', provider: 'double', kind: 'reranker', pricing },
      ],
    }),
  );
  const logger = pino({ level: 'error' }, { write: (line: string) => void errors.push(line) });
  platform = await startTestPlatform({ environment: { MODELS_FILE: file }, listen: true, logger });
  spaceId = (await send<{ id: string }>('/spaces', { name: 'Research' })).body.id;
  agentId = (await send<{ id: string }>('/agents', { spaceId, name: 'Guide', knowledgeEnabled: true })).body.id;
});
afterEach(() => {
  answers = asUsual;
  for (const list of Object.values(bodies)) list.length = 0;
});
afterAll(async () => {
  await platform.stop();
  await provider.stop();
  rmSync(folder, { recursive: true });
});

const send = <T>(path: string, body: object) => platform.call<T>(CORE + path, { method: 'POST', body });
const add = async (name: string, content: string, scope = 'agent'): Promise<string> => {
  const { id } = (
    await send<{ id: string }>(`/knowledge/${agentId}/documents`, { name, content, mimeType: 'text/markdown', scope })
  ).body;
  const path = `${CORE}/knowledge/${agentId}/documents/${id}`;
  await until(async () => (await platform.call<{ status: string }>(path)).body.status === 'Ready', 'ingestion');
  return id;
};
const search = (query: string, given: object = {}) => send<Found>(`/knowledge/${agentId}/search`, { query, ...given });
/** Twelve lines of about fifty words, so that two make a passage. */
const paragraphs = (words: string): string =>
  Array.from({ length: 12 }, (_, line) => `${words} ${`line${line} and some more words to fill it `.repeat(5)}.`).join(
    '\n\n',
  );

test('title and headings precede every passage when it is embedded, behind the prefix of the model', async () => {
  await add('Backups.md', '# Nightly\n\nThey run at two.');
  await search('nightly backups');
  expect(bodies['embeddings']?.map(({ input }) => input)).toEqual([
    ['passage: Backups > Nightly\nThey run at two.'],
    ['query: nightly backups'],
  ]);
});

test('no document fills all places while others match too, and neighbours are one context', async () => {
  const long = await add('Long.md', paragraphs('giraffes'));
  const others = [await add('One.md', 'The giraffes of the zoo.'), await add('Two.md', 'A book on giraffes.')];
  const { items } = (await search('giraffes line3 line4', { topK: 4, mode: 'text' })).body;
  expect(new Set(items.map(({ documentId }) => documentId))).toEqual(new Set([long, ...others]));
  const ofLong = items.filter(({ documentId }) => documentId === long);
  expect(ofLong.some(({ chunkIds }) => chunkIds.length > 1)).toBe(true);
  for (const { chunkId, chunkIds } of ofLong) expect(chunkIds).toContain(chunkId);
  const spans = ofLong.map(({ position }) => position).toSorted((a, b) => a.start - b.start);
  expect(spans.every(({ start }, index) => index === 0 || start >= (spans[index - 1]?.end ?? 0))).toBe(true);
});

test('the configured reranker ranks what is found, metered, unless a search says no', async () => {
  const [striped, quagga] = [await add('Z.md', 'A zebra has stripes.'), await add('Q.md', 'The Quagga was a zebra.')];
  const ranked = (await search('zebra with stripes')).body.items;
  expect(ranked.slice(0, 1)).toMatchObject([{ documentId: quagga, rerankRank: 1, score: 0.9 }]);
  expect(bodies['rerank']).toMatchObject([{ query: 'zebra with stripes' }]);
  await until(async () => (await invocations('rerank')).length === rankings, 'the records of the calls');
  expect((await invocations('rerank'))[0]).toMatchObject({
    model: 'quaggas',
    outcome: 'ok',
    usage: { inputTokens: 10, cost: '0.00001' },
  });
  const plain = (await search('zebra with stripes', { rerank: false })).body.items;
  expect(plain[0]).toMatchObject({ documentId: striped, textRank: 1 });
  expect(plain[0]).not.toHaveProperty('rerankRank');
});

test('a search shows what answers are made from: the same, in the same order', async () => {
  await add('Okapi.md', '# Okapi\n\nThe okapi lives in the forest and eats leaves.');
  const shown = (await search('Where does the okapi live?')).body.items;
  const asked = await send<{ message: { parts: { type: string; sourceId?: string }[] } }>(
    `/llm/${agentId}/conversation`,
    {
      message: 'Where does the okapi live?',
    },
  );
  const cited = asked.body.message.parts.flatMap(({ sourceId }) => sourceId ?? []);
  expect(cited.length).toBeGreaterThan(0);
  expect(shown.flatMap(({ chunkIds }) => chunkIds)).toEqual(expect.arrayContaining(cited));
  // Searched once for the search and once for the answer, ranked from the same passages.
  expect(bodies['rerank']?.[1]).toEqual(bodies['rerank']?.[0]);
});

test('without its embedder hybrid goes on and says so, answers too; searches by vector fail', async () => {
  await add('Lynx.md', 'The lynx hunts at dusk.');
  answers = { ...asUsual, embeddings: down };
  expect(await search('lynx')).toMatchObject({
    status: 200,
    body: { degraded: ['vector'], items: [{ vectorRank: null }] },
  });
  expect(await search('lynx', { mode: 'text' })).toMatchObject({
    status: 200,
    body: expect.not.objectContaining({ degraded: [] }),
  });
  expect(await search('lynx', { mode: 'vector' })).toMatchObject({
    status: 503,
    body: { code: 'unavailable', detail: expect.stringContaining('Search with the mode hybrid or text') },
  });
  const asked = await send<{ message: object }>(`/llm/${agentId}/conversation`, {
    message: 'When does the lynx hunt?',
  });
  expect(asked).toMatchObject({ status: 200, body: { message: { status: 'complete', degraded: ['vector'] } } });
});

test('without its reranker what was found keeps its order and says so', async () => {
  await add('Ibex.md', 'The ibex climbs.');
  answers = { ...asUsual, rerank: down };
  const { body } = await search('ibex');
  expect(body.degraded).toEqual(['rerank']);
  expect(body.items[0]).toMatchObject({ textRank: 1 });
  expect(body.items[0]).not.toHaveProperty('rerankRank');
});

test('a model that is silent holds a search up for five seconds at most', async () => {
  await add('Newt.md', 'The newt swims.');
  answers = { ...asUsual, embeddings: silent };
  const took = ownTime();
  expect(await search('newt')).toMatchObject({ status: 200, body: { degraded: ['vector'] } });
  expect(took()).toBeLessThan(10_000);
});

test('a search whose client left asks its models no more, and nothing of it is logged as an error', async () => {
  await add('Kudu.md', 'The kudu has spiral horns.');
  const ended = Promise.withResolvers<void>();
  answers = { ...asUsual, embeddings: (_, response) => void response.once('close', () => ended.resolve()) };
  const before = bodies['embeddings']?.length;
  errors.length = 0;
  const left = new AbortController();
  const asked = fetch(`${platform.url}${CORE}/knowledge/${agentId}/search`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'kudu' }),
    signal: left.signal,
  });
  await until(() => bodies['embeddings']?.length !== before, 'the call');
  left.abort();
  await expect(asked).rejects.toThrow('aborted');
  let isEnded = false;
  void ended.promise.then(() => (isEnded = true));
  // Sooner than a search loses its patience.
  await until(() => isEnded, 'the end of the call', { patience: 3_000 });
  await until(async () => (await invocations('embedding'))[0]?.outcome === 'aborted', 'the record of the call');
  expect(bodies['rerank']).toEqual([]);
  expect(errors).toEqual([]);
});

test('a used-up limit still rejects', async () => {
  const limit = await send<{ id: string }>('/cost-control', {
    scope: { type: 'space', id: spaceId },
    amount: '0.0000001',
    window: 'total',
  });
  expect(await search('zebra')).toMatchObject({ status: 429, body: { code: 'usage_limit_exceeded' } });
  await platform.call(`${CORE}/cost-control/${limit.body.id}`, { method: 'DELETE' });
});

const invocations = async (kind: string) =>
  (
    await platform.call<{ items: { kind: string; model: string; outcome: string; usage: object }[] }>(
      `${CORE}/usage/invocations?${EVER}&agentId=${agentId}`,
    )
  ).body.items.filter((each) => each.kind === kind);
