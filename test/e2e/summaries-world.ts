import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProviderDouble, startProviderDouble } from '../fixtures/provider-double';
import { until } from '../fixtures/until';
import { type Answer, startTestPlatform, type TestPlatform } from './harness';

const CORE = '/api/v1/core';

export interface ShownIndex {
  readonly state: 'absent' | 'building' | 'ready' | 'failed';
  readonly estimate: { readonly calls: number; readonly tokens: number; readonly cost: string };
  readonly progress: { readonly done: number; readonly total: number };
  readonly levels: number;
  readonly summaries: number;
  readonly builtAt: string | null;
  readonly failure: { readonly code: string; readonly message: string } | null;
}

/** A platform whose chat model `summariser` and embedding model run on loopback, and what the model was asked. */
export interface SummariesWorld {
  readonly platform: TestPlatform;
  readonly spaceId: string;
  /** What was to be summarised, call by call. */
  readonly summarised: string[];
  /** While it is set, calls for summaries are not answered. */
  hold: boolean;
  /** Answers the calls that were held. */
  release(): void;
  newAgent(fields?: object): Promise<string>;
  add(agentId: string, name: string, content: string, scope?: 'agent' | 'space'): Promise<string>;
  replace(agentId: string, documentId: string, content: string): Promise<void>;
  build(agentId: string, mode?: 'build' | 'rebuild'): Promise<Answer>;
  /** Builds, and waits for the end. */
  built(agentId: string, mode?: 'build' | 'rebuild'): Promise<ShownIndex>;
  index(agentId: string): Promise<ShownIndex>;
  end(agentId: string, options?: { purge: boolean }): Promise<Answer>;
  stop(): Promise<void>;
}

/** A text of so many sections about an animal, a few chunks each, which differ by number. */
export const bookOf = (animal: string, sections: number): string =>
  Array.from({ length: sections }, (_, section) => sectionOf(animal, section)).join('\n\n');

export const sectionOf = (animal: string, section: number): string => {
  const sentences = Array.from(
    { length: 48 },
    (_, index) =>
      `The ${animal} of valley ${section} keeps its habit number ${section * 100 + index} near the river in every season.`,
  );
  return `# The ${animal} of valley ${section}\n\n${sentences.join(' ')}`;
};

/** Directions that follow from the words of a text. */
const vectorOf = (text: string): number[] => {
  const vector = Array.from({ length: 32 }, () => 0.01);
  for (const word of text.toLowerCase().match(/[a-z]+|\d+/g) ?? []) {
    const place = [...word].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 32, 7);
    vector[place] = (vector[place] ?? 0) + 1;
  }
  return vector;
};

export const makeSummariesWorld = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<SummariesWorld> => {
  const folder = mkdtempSync(join(tmpdir(), 'summaries-'));
  const provider: ProviderDouble = await startProviderDouble();
  const summarised: string[] = [];
  const held: (() => void)[] = [];
  const send = (response: ServerResponse, body: object): void =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  provider.answer = (path, body, response) => {
    if (path.endsWith('/embeddings'))
      return send(response, {
        data: (body['input'] as string[]).map((text, index) => ({ index, embedding: vectorOf(text) })),
        usage: { prompt_tokens: 10, total_tokens: 10 },
      });
    const [system, question] = (body['messages'] as { content: string }[]).map(({ content }) => content);
    if (system?.includes('You write summaries') !== true)
      return send(response, {
        choices: [{ message: { content: 'They keep habits near the river [1].' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 100, completion_tokens: 10 },
      });
    summarised.push(question ?? '');
    const animals = [...new Set((question ?? '').match(/The \w+ of valley \d+/g))].slice(0, 3);
    const answer = () =>
      send(response, {
        choices: [{ message: { content: `This is about: ${animals.join(', ')}.` }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 500, completion_tokens: 50 },
      });
    if (world.hold) held.push(answer);
    else answer();
  };
  const file = join(folder, 'models.json');
  const pricing = { currency: 'USD', input: '1', output: '2' };
  writeFileSync(
    file,
    JSON.stringify({
      embeddingModel: 'directions',
      providers: { double: { kind: 'openai', baseUrl: provider.baseUrl } },
      models: [
        { key: 'directions', provider: 'double', kind: 'embedding', pricing },
        { key: 'summariser', provider: 'double', kind: 'chat', pricing },
      ],
    }),
  );
  const platform = await startTestPlatform({ environment: { MODELS_FILE: file, ...environment } });
  const call = <T>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object) =>
    platform.call<T>(CORE + path, { method, ...(body === undefined ? {} : { body }) });
  const pathOf = (agentId: string): string => `/knowledge/${agentId}/summary-index`;
  const isReady = (agentId: string, documentId: string) =>
    until(async () => {
      const { body } = await call<{ status: string }>('GET', `/knowledge/${agentId}/documents/${documentId}`);
      if (body.status === 'Failed') throw new Error('the document failed');
      return body.status === 'Ready';
    }, 'the document');
  const spaceId = (await call<{ id: string }>('POST', '/spaces', { name: 'Zoo' })).body.id;
  const index = async (agentId: string) => (await call<ShownIndex>('GET', pathOf(agentId))).body;
  const build: SummariesWorld['build'] = (agentId, mode = 'build') => call('POST', pathOf(agentId), { mode });
  const world: SummariesWorld = {
    platform,
    spaceId,
    summarised,
    hold: false,
    release: () => {
      world.hold = false;
      for (const answer of held.splice(0)) answer();
    },
    newAgent: async (fields = {}) => {
      const agent = { spaceId, name: 'Guide', model: 'summariser', knowledgeEnabled: true, ...fields };
      return (await call<{ id: string }>('POST', '/agents', agent)).body.id;
    },
    add: async (agentId, name, content, scope = 'agent') => {
      const document = { name, content, mimeType: 'text/markdown', scope };
      const { id } = (await call<{ id: string }>('POST', `/knowledge/${agentId}/documents`, document)).body;
      await isReady(agentId, id);
      return id;
    },
    replace: async (agentId, documentId, content) => {
      await call('PUT', `/knowledge/${agentId}/documents/${documentId}`, { content });
      await isReady(agentId, documentId);
    },
    build,
    built: async (agentId, mode = 'build') => {
      const begun = await build(agentId, mode);
      if (begun.status !== 202) throw new Error(begun.text);
      await until(async () => (await index(agentId)).state !== 'building', 'the end of the build');
      return index(agentId);
    },
    index,
    end: (agentId, options) => call('DELETE', `${pathOf(agentId)}${options?.purge === true ? '?purge=true' : ''}`),
    stop: async () => {
      world.release();
      await platform.stop();
      await provider.stop();
      rmSync(folder, { recursive: true });
    },
  };
  return world;
};
