import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { friendly, startToolApi, type ToolApi } from '../fixtures/tool-api';
import { until } from '../fixtures/until';
import {
  behaves,
  chunk,
  DONE,
  events,
  startUpstreamDouble,
  type UpstreamDouble,
  usageChunk,
} from '../fixtures/upstream-double';
import { type Answer, type Call, startTestPlatform, type TestPlatform } from './harness';
import { writeModelsFile } from '../fixtures/models-file';

/** What the model says at one step: it calls tools, or it answers. */
export type Said = string | readonly { readonly name: string; readonly input: unknown }[];

export interface ToolMessage {
  readonly id: string;
  readonly status: string;
  readonly finishReason: string;
  readonly parts: readonly {
    readonly type: string;
    readonly text?: string;
    readonly state?: string;
    readonly output?: string;
    readonly errorText?: string;
    readonly toolCallId?: string;
  }[];
}
export interface ToolTurn {
  readonly conversationId: string;
  readonly message: ToolMessage;
}

export let platform: TestPlatform;
export let upstream: UpstreamDouble;
/** An API on loopback that the operator allows. */
export let api: ToolApi;
/** Another, that nobody allowed. */
export let inside: ToolApi;
/** Of the model that calls tools, one after another; then it says `Done.` */
export let script: Said[];

export const SECRET = 'sk-canary-of-the-tool-7f3a';

export const documentOf = (paths: object): object => ({
  openapi: '3.1.0',
  security: [{ key: [] }],
  paths,
  components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
});
export const forecast = documentOf({
  '/forecast/{city}': {
    get: {
      operationId: 'forecast',
      summary: 'Says how the weather will be.',
      parameters: [{ name: 'city', in: 'path', required: true, schema: { type: 'string' } }],
    },
  },
});
export const weather = (given: object = {}, http: object = {}) => ({
  id: 'weather',
  name: 'Weather',
  kind: 'http',
  enabled: true,
  approval: 'never',
  http: { document: forecast, baseUrl: api.origin, secret: SECRET, ...http },
  ...given,
});

/** Starts the product with a model that calls tools as a test has it, and one that calls none. */
export const withTools = (): void => {
  const folder = mkdtempSync(join(tmpdir(), 'tools-'));
  beforeAll(async () => {
    [upstream, api, inside] = await Promise.all([startUpstreamDouble(), startToolApi(), startToolApi()]);
    const model = { kind: 'chat', pricing: { currency: 'USD', input: '1', output: '2' } };
    const file = writeModelsFile(
      folder,
      upstream,
      [
        { ...model, key: 'caller', tags: ['tools'] },
        { ...model, key: 'plain' },
        { ...model, key: 'vectors', kind: 'embedding' },
      ],
      { defaultModel: 'caller', embeddingModel: 'vectors', titleModel: null },
    );
    platform = await startTestPlatform({
      listen: true,
      environment: { MODELS_FILE: file, TOOL_PRIVATE_HOSTS: api.host },
    });
  });
  afterAll(async () => {
    await platform.stop();
    await Promise.all([upstream.stop(), api.stop(), inside.stop()]);
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    for (const each of [api, inside]) Object.assign(each, { asked: [], answer: friendly });
    upstream.calls.length = 0;
    script = [];
    upstream.behaviour = (response, call) => {
      if (call.path.includes('/embeddings')) return behaves(response, call);
      const { body } = call;
      // Whatever asks without tools wants no step of the script: a title, or the model that has none.
      const said = body['tools'] === undefined ? 'Done.' : (script.shift() ?? 'Done.');
      events(response, chunk({ role: 'assistant', content: typeof said === 'string' ? said : null }));
      if (typeof said !== 'string')
        said.forEach(({ name, input }, index) => {
          const call = { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) };
          events(response, chunk({ tool_calls: [{ index, id: `call_${index}`, type: 'function', function: call }] }));
        });
      return events(response, chunk({}, typeof said === 'string' ? 'stop' : 'tool_calls'), usageChunk(), DONE).end();
    };
  });
};

export const post = <T>(path: string, body: object, call: Partial<Call> = {}): Promise<Answer<T>> =>
  platform.call<T>(`/api/v1/core${path}`, { method: 'POST', body, ...call });

export const newAgent = async (given: object = {}, call: Partial<Call> = {}): Promise<string> => {
  const { status, text, body } = await post<{ id: string }>(
    '/agents',
    { name: 'Guide', knowledgeEnabled: false, ...given },
    call,
  );
  if (status !== 201) throw new Error(text);
  return body.id;
};

export const addDocument = async (agentId: string, name: string, content: string, call: Partial<Call> = {}) => {
  const path = `/knowledge/${agentId}/documents`;
  const { id } = (await post<{ id: string }>(path, { name, content, mimeType: 'text/markdown' }, call)).body;
  await until(
    async () =>
      (await platform.call<{ status: string }>(`/api/v1/core${path}/${id}`, { ...call })).body.status === 'Ready',
    name,
  );
};

export const ask = (agentId: string, message: string, call: Partial<Call> = {}) =>
  post<ToolTurn>(`/llm/${agentId}/conversation`, { message }, call);

/** All that chat models were told until now. */
export const prompts = (): string =>
  JSON.stringify(upstream.calls.filter(({ path }) => path.includes('/chat/')).map(({ body }) => body));

/** What the model was told of its calls in its last step. */
export const toolResults = (): readonly string[] =>
  (
    (upstream.calls.findLast(({ body }) => body['tools'] !== undefined)?.body['messages'] ?? []) as {
      role: string;
      content: string;
    }[]
  )
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => content);

/** Names of the tools that the model was offered. */
export const offered = (): readonly string[] =>
  ((upstream.calls.at(-1)?.body['tools'] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);
