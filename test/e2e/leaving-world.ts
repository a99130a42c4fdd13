import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVER } from '../fixtures/ever';
import { type GeneratingProvider, generatingProvider, type Wanted } from '../fixtures/generating-provider';
import { until } from '../fixtures/until';
import { startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

/**
 * A provider bills what it makes, whoever leaves. What is recorded here is at least nine tenths of that for clients that leave, as long as
 * it sees within half a second that it was left; so nobody gets past a limit by leaving, beyond the one call that every limit lets through.
 */

export const RATE = 2_000;
const NOTICE_MS = 300;
/** A whole answer: three of them fit into the limit. */
export const TOKENS = 1_000;
export const LIMIT = 0.5;
export const TOLERANCE = 0.9;
export interface Call {
  readonly outcome: string;
  readonly usageSource: string;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly cost: string };
}

const folder = mkdtempSync(join(tmpdir(), 'leaving-'));
export let upstream: UpstreamDouble;
export let provider: GeneratingProvider;
export let platform: TestPlatform;
export const chat = (key: string, wanted: Wanted, body: object = {}, signal?: AbortSignal) =>
  fetch(`${platform.url}/api/compat/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'm',
      max_tokens: TOKENS,
      stream: true,
      messages: [{ role: 'user', content: JSON.stringify(wanted) }],
      ...body,
    }),
    ...(signal === undefined ? {} : { signal }),
  });

/** A caller whose key may spend so much. */
export const limited = async (amount = LIMIT) => {
  const { key, keyId } = await platform.newCaller();
  await platform.call(`/api/v1/core/api-keys/${keyId}`, {
    method: 'PUT',
    body: { usageLimit: { amount: String(amount), window: 'total' } },
  });
  const state = async () =>
    (await platform.call<{ spent: string; held: string }>(`/api/v1/core/cost-control/${keyId}`)).body;
  const calls = async () =>
    (await platform.call<{ items: Call[] }>(`/api/v1/core/usage/invocations?${EVER}&apiKeyId=${keyId}&limit=100`)).body
      .items;
  /** Every call of the key, once the provider has billed as many. */
  const settled = async () => {
    await until(
      async () =>
        provider.underWay.size === 0 &&
        Number((await state()).held) === 0 &&
        (await calls()).length === provider.bills.length,
      'the settlement of every call',
    );
    return calls();
  };
  return { key, state, calls, settled };
};

export const made = (tokens: number) =>
  until(() => [...provider.underWay].some((answer) => answer.made >= tokens), `${tokens} tokens`);
export type Leaving = (key: string) => Promise<boolean>;
/** Asks, reads a stream until some text came, or waits for a whole answer for so long, and leaves. False where the limit rejected. */
export const leaving =
  (
    wanted: Wanted,
    { stream = true, at, maxTokens = TOKENS }: { stream?: boolean; at: string | number; maxTokens?: number },
  ): Leaving =>
  async (key) => {
    const left = new AbortController();
    const asked = chat(key, wanted, { stream, max_tokens: maxTokens }, left.signal);
    if (!stream) {
      const answer = asked.then(
        ({ status }) => status,
        () => 0,
      );
      // Most are rejected at once; those that are not have been waiting for their limit as long as for their answer.
      const status = await Promise.race([
        answer,
        until(() => [...provider.underWay].some(({ made: tokens }) => tokens >= Number(at)), 'the answer').then(
          () => 0,
        ),
      ]);
      left.abort();
      return status !== 429;
    }
    const response = await asked;
    if (response.status === 429) return false;
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    if (typeof at === 'number') await new Promise((resolve) => setTimeout(resolve, at));
    else for (let heard = ''; !heard.includes(at);) heard += Buffer.from((await reader.read()).value ?? []).toString();
    left.abort();
    return true;
  };

/** Starts a platform over a provider that generates at a steady rate. */
export const withGenerating = (): void => {
  beforeAll(async () => {
    upstream = await startUpstreamDouble();
    provider = generatingProvider({ tokensPerSecond: RATE, noticeMs: NOTICE_MS });
    upstream.behaviour = provider.behaviour;
    const file = join(folder, 'models.json');
    const pricing = { currency: 'USD', input: '1', output: '160' };
    const acme = { kind: 'openai', baseUrl: upstream.baseUrl };
    writeFileSync(
      file,
      JSON.stringify({
        defaultModel: 'm',
        titleModel: null,
        providers: { acme, hasty: { ...acme, timeoutMs: 400 } },
        models: [
          { key: 'm', provider: 'acme', kind: 'chat', pricing },
          { key: 'hasty', modelId: 'm', provider: 'hasty', kind: 'chat', pricing },
        ],
      }),
    );
    platform = await startTestPlatform({ listen: true, environment: { MODELS_FILE: file } });
    // Calls that come to their end, by which the models are measured: long ones and few at once, so that a busy machine measures no slower model.
    for (let round = 0; round < 8; round += 1)
      await Promise.all(
        [true, false].flatMap((stream) =>
          // `hasty` gives up after 400 ms.
          Object.entries({ m: 700, hasty: 520 }).map(async ([model, text]) =>
            (await chat(ADMIN_KEY, { text }, { stream, model })).text(),
          ),
        ),
      );
  });
  afterAll(async () => {
    await platform.stop();
    await upstream.stop();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    provider.bills.length = 0;
    upstream.cuts.length = 0;
  });
};
