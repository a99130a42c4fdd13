import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVER } from '../fixtures/ever';
import { until } from '../fixtures/until';
import {
  type Behaviour,
  behaves,
  completion,
  json,
  startUpstreamDouble,
  type UpstreamDouble,
  USAGE,
} from '../fixtures/upstream-double';
import { type Answer, startTestPlatform, type TestPlatform } from './harness';
import { writeModelsFile } from '../fixtures/models-file';

/** A platform whose Agents generate with models of one provider, of every kind. */

export const CORE = '/api/v1/core';
const folder = mkdtempSync(join(tmpdir(), 'generation-'));
export let upstream: UpstreamDouble;
export let platform: TestPlatform;
export let spaceId: string;
type Person = Awaited<ReturnType<TestPlatform['newCaller']>>;
export let owner: Person;
export let stranger: Person;

const token = (input: string, output: string) => ({ currency: 'USD', input, output });

/** Starts it; `defaults` are those of `MODELS_FILE` for images, speech and transcription. */
export const withGenerating = (defaults: object = {}): void => {
  beforeAll(async () => {
    upstream = await startUpstreamDouble();
    const models = [
      { key: 'chat', kind: 'chat', pricing: token('1', '2') },
      { key: 'sees', kind: 'chat', pricing: token('1', '2'), tags: ['vision', 'structured-outputs'] },
      { key: 'painter', kind: 'image', pricing: { currency: 'USD', perImage: '0.04' } },
      { key: 'gpt-image-1', kind: 'image', pricing: token('5', '40') },
      { key: 'voice', kind: 'speech', pricing: { currency: 'USD', perMillionCharacters: '15' } },
      { key: 'ears', kind: 'transcription', pricing: { currency: 'USD', perMinute: '0.006' } },
    ];
    const file = writeModelsFile(folder, upstream, models, { titleModel: null, defaultModel: 'chat', ...defaults });
    platform = await startTestPlatform({ listen: true, environment: { MODELS_FILE: file } });
    [owner, stranger] = [await platform.newCaller(), await platform.newCaller()];
    spaceId = (await send<{ id: string }>('/spaces', { name: 'Studio' })).body.id;
  });
  afterAll(async () => {
    await platform.stop();
    await upstream.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    upstream.behaviour = behaves;
    upstream.calls.length = 0;
  });
};

export const send = <T>(path: string, body: object, key = owner.key): Promise<Answer<T>> =>
  platform.call<T>(CORE + path, { method: 'POST', body, key });

export const newAgent = async (given: object = {}): Promise<string> =>
  (await send<{ id: string }>('/agents', { spaceId, name: 'Writer', model: 'chat', knowledgeEnabled: false, ...given }))
    .body.id;

export interface Generated {
  readonly text: string;
  readonly object: unknown;
  readonly finishReason: string;
  readonly sources: readonly { readonly quote: string; readonly title: string }[];
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly cost: string };
  readonly model: string;
  readonly invocationId: string;
  readonly code: string;
  readonly errors: readonly { readonly path: string; readonly message: string }[];
}

export const generate = (agentId: string, body: object, operation = 'generateText', key = owner.key) =>
  send<Generated>(`/llm/${agentId}/${operation}`, body, key);

/** The model says these, one after another; the last one for ever. */
export const saying =
  (...texts: readonly string[]): Behaviour =>
  (response, { body }) => {
    const text = texts[Math.min(upstream.calls.length, texts.length) - 1];
    json(response, 200, completion({ content: text }, body['model'], { usage: USAGE }));
  };

export interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}
/** The bodies that the provider got. */
export const sent = (): readonly (Sent & Readonly<Record<string, unknown>>)[] =>
  upstream.calls.map(({ body }) => body as unknown as Sent & Record<string, unknown>);

interface Invocation {
  readonly id: string;
  readonly kind: string;
  readonly model: string;
  readonly outcome: string;
  readonly usageSource: string;
  readonly usage: Readonly<Record<string, unknown>> & { readonly cost: string };
}

/** The calls of an Agent, when there are so many. */
export const invocations = async (agentId: string, count: number): Promise<readonly Invocation[]> => {
  const seen = async () =>
    (
      await platform.call<{ items: Invocation[] }>(`${CORE}/usage/invocations?${EVER}&agentId=${agentId}`, {
        key: owner.key,
      })
    ).body.items;
  await until(async () => (await seen()).length >= count, `${count} invocations`);
  return seen();
};
