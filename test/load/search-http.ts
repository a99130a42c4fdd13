import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Child, startChild } from '../e2e/child';
import { ask, KEY } from './product';
import { percentile } from './rate';

/**
 * Hybrid search over HTTP, with and without a tag, in Agents that have very different shares of the chunks: 50 %, 10 %, 2 % and 0.1 %.
 * Vectors come from an embedding model in a process of its own, which answers at once; a search that it is asked for takes its time too.
 * One after the other, as one client asks. `CHUNKS` (100000), `QUERIES` (200), `FOLDER` (filled once, and kept for another measurement).
 * `npm exec -- node --require ./test/register.cjs test/load/search-http.ts`
 */

const CHUNKS = Number(process.env['CHUNKS'] ?? 100_000);
const QUERIES = Number(process.env['QUERIES'] ?? 200);
const FOLDER = process.env['FOLDER'];
const WARMING = 50;
const SHARES = [0.5, 0.1, 0.02, 0.001];
/** The rest is spread over Agents of this share. */
const OTHERS = 0.02;
const PER_DOCUMENT = 100;
const WORDS = 60;
const CORE = '/api/v1/core';
const say = (text: string): void => void process.stdout.write(`${text}\n`);

let seed = 7;
const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
/** As a language has them without its stop words: some are frequent, most are rare. */
const word = (): string => `w${Math.floor(100 * 200 ** random()).toString(26)}`;
const words = (count: number): string => Array.from({ length: count }, word).join(' ');

const call = async <T>(child: Child, method: string, path: string, body?: object): Promise<T> =>
  JSON.parse(await ask(child, method, CORE + path, body)) as T;

interface Tenant {
  readonly agentId: string;
  readonly tagId: string;
  readonly share: number;
}

const tenantOf = async (product: Child, share: number, name: string): Promise<Tenant> => {
  const { id: spaceId } = await call<{ id: string }>(product, 'POST', '/spaces', { name });
  const { id: agentId } = await call<{ id: string }>(product, 'POST', '/agents', { spaceId, name });
  await call(product, 'PUT', `/agents/${agentId}`, { chunking: { maxTokens: 512, overlapTokens: 0 } });
  const { id: tagId } = await call<{ id: string }>(product, 'POST', `/knowledge/${agentId}/tags`, { name: 'tagged' });
  return { agentId, tagId, share };
};

/** Documents of which each second one has the tag. A section each is a chunk each. */
const fill = async (product: Child, { agentId, tagId, share }: Tenant): Promise<readonly string[]> => {
  const chunks = Math.round(CHUNKS * share);
  const ids: string[] = [];
  for (let made = 0; made < chunks; made += PER_DOCUMENT) {
    const count = Math.min(PER_DOCUMENT, chunks - made);
    const content = Array.from({ length: count }, (_, at) => `# ${made + at}\n\n${words(WORDS * (0.5 + random()))}.`);
    const { id } = await call<{ id: string }>(product, 'POST', `/knowledge/${agentId}/documents`, {
      name: `Document ${made}`,
      content: content.join('\n\n'),
      mimeType: 'text/markdown',
      ...((made / PER_DOCUMENT) % 2 === 0 ? { tagIds: [tagId] } : {}),
    });
    ids.push(id);
  }
  return ids;
};

const ready = async (product: Child, { agentId }: Tenant, ids: readonly string[]): Promise<number> => {
  let chunks = 0;
  for (const id of ids)
    for (;;) {
      const path = `/knowledge/${agentId}/documents/${id}`;
      const { status, chunkCount } = await call<{ status: string; chunkCount: number }>(product, 'GET', path);
      if (status === 'Failed') throw new Error(`${path} failed`);
      if (status === 'Ready') {
        chunks += chunkCount;
        break;
      }
      await pause(250);
    }
  return chunks;
};

const filled = async (product: Child): Promise<readonly Tenant[]> => {
  const rest = 1 - SHARES.reduce((sum, share) => sum + share, 0);
  const shares = [...SHARES, ...Array.from({ length: Math.floor(rest / OTHERS) }, () => OTHERS)];
  const tenants: Tenant[] = [];
  for (const [at, share] of shares.entries()) tenants.push(await tenantOf(product, share, `Tenant ${at}`));
  const startedAt = performance.now();
  let chunks = 0;
  for (const tenant of tenants) chunks += await ready(product, tenant, await fill(product, tenant));
  say(`${chunks} chunks, ingested in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
  return tenants;
};

const search = async (product: Child, { agentId, share, tagId }: Tenant): Promise<void> => {
  for (const [what, more] of Object.entries({ 'no filter': {}, 'with a tag': { tagIds: [tagId] } })) {
    const times: number[] = [];
    for (let asked = -WARMING; asked < QUERIES; asked += 1) {
      const startedAt = performance.now();
      const query = { query: words(4), topK: 8, mode: 'hybrid', ...more };
      const found = await call<{ degraded?: readonly string[] }>(
        product,
        'POST',
        `/knowledge/${agentId}/search`,
        query,
      );
      if ((found.degraded ?? []).length > 0) throw new Error('the embedding model did not answer');
      if (asked >= 0) times.push(performance.now() - startedAt);
    }
    say(
      `${(100 * share).toFixed(1).padStart(5)} % of the chunks, ${what}: p50 ${percentile(times, 0.5).toFixed(1)} ms (at most 10), p95 ${percentile(times, 0.95).toFixed(1)} ms (at most 25)`,
    );
  }
};

const main = async (): Promise<void> => {
  const folder = FOLDER ?? mkdtempSync(join(tmpdir(), 'load-search-'));
  mkdirSync(folder, { recursive: true });
  const embedder = await startChild('test/load/search-embedder.ts', {});
  const modelsFile = join(folder, 'models.json');
  writeFileSync(
    modelsFile,
    JSON.stringify({
      embeddingModel: 'mock',
      providers: { mock: { kind: 'openai', baseUrl: `${embedder.url}/v1` } },
      models: [{ key: 'mock', provider: 'mock', kind: 'embedding', pricing: 'free', dimensions: 512 }],
    }),
  );
  const product = await startChild('apps/api/src/main.ts', {
    DATA_DIR: folder,
    PORT: '0',
    BOOTSTRAP_API_KEY: KEY,
    LOG_LEVEL: 'warn',
    RATE_LIMIT: '0',
    MODELS_FILE: modelsFile,
  });
  try {
    const known = join(folder, 'tenants.json');
    if (!existsSync(known)) writeFileSync(known, JSON.stringify(await filled(product)));
    const tenants = JSON.parse(readFileSync(known, 'utf8')) as readonly Tenant[];
    for (const tenant of tenants.slice(0, SHARES.length)) await search(product, tenant);
  } finally {
    await product.stop();
    await embedder.stop();
    if (FOLDER === undefined) rmSync(folder, { recursive: true, force: true });
  }
};

void main();
