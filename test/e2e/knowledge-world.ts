import type { ServerResponse } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProviderDouble, startProviderDouble } from '../fixtures/provider-double';
import { until } from '../fixtures/until';
import { type Call, startTestPlatform, type TestPlatform } from './harness';

const CORE = '/api/v1/core';

export interface Chunk {
  readonly id: string;
  readonly text: string;
  readonly position: { readonly start: number; readonly end: number };
}
export interface KnowledgeDocument {
  readonly id: string;
  readonly status: string;
  readonly chunkCount: number;
  readonly tokenCount: number;
  readonly revision: number;
  readonly indexedRevision: number;
}

/** The platform with an embedding model that a test can watch and hold: its vectors tell lengths apart. */
export interface KnowledgeWorld {
  platform: TestPlatform;
  readonly provider: ProviderDouble;
  readonly spaceId: string;
  readonly agentId: string;
  /** Texts that were embedded, call by call, and by which model. */
  readonly calls: string[][];
  readonly models: string[];
  /** Asked before each answer of the model. */
  hold: () => Promise<void>;
  send<T>(path: string, body?: object, call?: Call): Promise<{ status: number; body: T; text: string }>;
  read<T>(path: string, call?: Call): Promise<{ status: number; body: T; text: string }>;
  add(content: string, given?: { scope?: string; agentId?: string; mimeType?: string }): Promise<string>;
  document(id: string): Promise<KnowledgeDocument>;
  ready(id: string): Promise<KnowledgeDocument>;
  chunks(id: string): Promise<readonly Chunk[]>;
  restart(models?: object): Promise<void>;
  stop(): Promise<void>;
}

export const embeddingModel = (key: string, provider = 'double') => ({
  key,
  provider,
  kind: 'embedding',
  pricing: { currency: 'USD', input: '1', output: '0' },
});

export const startKnowledge = async (): Promise<KnowledgeWorld> => {
  const folder = mkdtempSync(join(tmpdir(), 'knowledge-'));
  const file = join(folder, 'models.json');
  const provider = await startProviderDouble();
  const write = (models: object) =>
    writeFileSync(
      file,
      JSON.stringify({ providers: { double: { kind: 'openai', baseUrl: provider.baseUrl } }, ...models }),
    );
  const first = { embeddingModel: 'lengths', models: [embeddingModel('lengths')] };
  write(first);
  const start = (dataDir?: string) =>
    startTestPlatform({ environment: { MODELS_FILE: file }, ...(dataDir === undefined ? {} : { dataDir }) });
  const calls: string[][] = [];
  const models: string[] = [];
  provider.answer = (_path, body, response) => {
    models.push(body['model'] as string);
    void answer(body['input'] as string[], response);
  };
  const answer = async (texts: string[], response: ServerResponse): Promise<void> => {
    calls.push(texts);
    await world.hold();
    const data = texts.map((text, index) => ({ index, embedding: [text.length, 1] }));
    const tokens = texts.length * 10;
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ data, usage: { prompt_tokens: tokens, total_tokens: tokens } }));
  };
  const platform = await start();
  const post = async <T>(path: string, body: object) =>
    (await platform.call<T>(CORE + path, { method: 'POST', body })).body;
  const spaceId = (await post<{ id: string }>('/spaces', { name: 'Research' })).id;
  const agentId = (await post<{ id: string }>('/agents', { spaceId, name: 'Guide' })).id;
  const documents = `/knowledge/${agentId}/documents`;
  const world: KnowledgeWorld = {
    platform,
    provider,
    spaceId,
    agentId,
    calls,
    models,
    hold: async () => undefined,
    send: (path, body = {}, call = {}) => world.platform.call(CORE + path, { method: 'POST', body, ...call }),
    read: (path, call = {}) => world.platform.call(CORE + path, call),
    add: async (content, { scope = 'agent', agentId: of = agentId, mimeType = 'text/markdown' } = {}) =>
      (await world.send<{ id: string }>(`/knowledge/${of}/documents`, { name: 'a.md', content, mimeType, scope })).body
        .id,
    document: async (id) => (await world.read<KnowledgeDocument>(`${documents}/${id}`)).body,
    ready: async (id) => {
      await until(async () => ['Ready', 'Failed'].includes((await world.document(id)).status));
      return world.document(id);
    },
    chunks: async (id) => (await world.read<{ items: Chunk[] }>(`${documents}/${id}/chunks`)).body.items,
    restart: async (given) => {
      await world.platform.stop({ keep: true });
      if (given !== undefined) write(given);
      world.platform = await start(world.platform.dataDir);
    },
    stop: async () => {
      await world.platform.stop();
      await provider.stop();
      rmSync(folder, { recursive: true });
    },
  };
  return world;
};
