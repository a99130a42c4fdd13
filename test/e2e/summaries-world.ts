import { startSummariser, type SummariserDouble } from '../fixtures/summariser-double';
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

/** A platform whose models run on loopback. */
export interface SummariesWorld {
  readonly platform: TestPlatform;
  readonly spaceId: string;
  readonly model: SummariserDouble;
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

export const makeSummariesWorld = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<SummariesWorld> => {
  const model = await startSummariser();
  const platform = await startTestPlatform({ environment: { MODELS_FILE: model.modelsFile, ...environment } });
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
    model,
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
      model.release();
      await platform.stop();
      await model.stop();
    },
  };
  return world;
};
