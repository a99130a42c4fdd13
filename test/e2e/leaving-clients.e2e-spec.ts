import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GeneratingProvider, generatingProvider, INPUT, type Wanted } from '../fixtures/generating-provider';
import { until } from '../fixtures/until';
import { startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

/**
 * A provider bills what it makes, whoever leaves. What is recorded here is at least nine tenths of that for clients that leave, as long as
 * it sees within half a second that it was left; so nobody gets past a limit by leaving, beyond the one call that every limit lets through.
 */

const RATE = 2_000;
const NOTICE_MS = 300;
const PRICES = { input: 1e-6, output: 160e-6 };
/** A whole answer: three of them fit into the limit. */
const TOKENS = 1_000;
const LIMIT = 0.5;
const TOLERANCE = 0.9;

interface Call {
  readonly outcome: string;
  readonly usageSource: string;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly cost: string };
}

const folder = mkdtempSync(join(tmpdir(), 'leaving-'));
let upstream: UpstreamDouble;
let provider: GeneratingProvider;
let platform: TestPlatform;

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
      providers: { acme, hasty: { ...acme, timeoutMs: 400 } },
      models: [
        { key: 'm', provider: 'acme', kind: 'chat', pricing },
        { key: 'hasty', modelId: 'm', provider: 'hasty', kind: 'chat', pricing },
      ],
    }),
  );
  platform = await startTestPlatform({ listen: true, environment: { MODELS_FILE: file } });
  // Calls that come to their end, by which the models are measured.
  const measured = Array.from({ length: 24 }, (_, call) => ({
    stream: call % 2 === 0,
    model: call % 4 < 2 ? 'm' : 'hasty',
  }));
  await Promise.all(measured.map(async (body) => (await chat(ADMIN_KEY, { text: 520 }, body)).text()));
}, 60_000);
afterAll(async () => {
  await platform.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  provider.bills.length = 0;
  upstream.cuts.length = 0;
});

const chat = (key: string, wanted: Wanted, body: object = {}, signal?: AbortSignal) =>
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
const limited = async (amount = LIMIT) => {
  const { key, keyId } = await platform.newCaller();
  await platform.call(`/api/v1/core/api-keys/${keyId}`, {
    method: 'PUT',
    body: { usageLimit: { amount: String(amount), window: 'total' } },
  });
  const standing = async () =>
    (await platform.call<{ spent: string; held: string }>(`/api/v1/core/cost-control/${keyId}`)).body;
  const calls = async () =>
    (await platform.call<{ items: Call[] }>(`/api/v1/core/usage/invocations?apiKeyId=${keyId}&limit=100`)).body.items;
  /** Every call of the key, once the provider has billed as many. */
  const settled = async () => {
    await until(
      async () =>
        provider.underWay.size === 0 &&
        Number((await standing()).held) === 0 &&
        (await calls()).length === provider.bills.length,
      'the settlement of every call',
    );
    return calls();
  };
  return { key, standing, calls, settled };
};
const billed = (): number =>
  provider.bills.reduce((sum, { input, output }) => sum + input * PRICES.input + output * PRICES.output, 0);
const made = (tokens: number) =>
  until(() => [...provider.underWay].some((answer) => answer.made >= tokens), `${tokens} tokens`);

type Leaving = (key: string) => Promise<boolean>;

/** Asks, reads a stream until some text came, or waits for a whole answer for so long, and leaves. False where the limit refused. */
const leaving =
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
      // Most are refused at once; those that are not have been waiting for their limit as long as for their answer.
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

/** So many leave at once, again and again until the limit lets none of them through. */
const leaveUntilRefused = async (key: string, clients: number, leave: Leaving): Promise<void> => {
  for (let round = 0; round < 20; round += 1) {
    const begun = await Promise.all(Array.from({ length: clients }, () => leave(key)));
    if (begun.every((one) => !one)) return;
    await until(() => provider.underWay.size === 0, 'the end of what the provider makes');
  }
  throw new Error('the limit refused nobody');
};

describe('a limit of 0.50 is not passed', () => {
  it.each<[string, number, Parameters<typeof leaving>]>([
    [
      'by 20 streams left between finish_reason and usage',
      20,
      [{ reasoning: 900, text: 100, usageAfter: 400 }, { at: '"finish_reason":"stop"' }],
    ],
    [
      'by 12 whole answers left late',
      12,
      [
        { reasoning: 900, text: 100 },
        { stream: false, at: 0.95 * TOKENS },
      ],
    ],
    ['by streams of reasoning alone, left in their middle', 20, [{ reasoning: TOKENS }, { at: 300 }]],
    ['by streams of text left in their middle', 20, [{ text: TOKENS }, { at: 300 }]],
    [
      'by streams of which more was held than they make, left in their middle',
      20,
      [{ reasoning: 4_000 }, { at: 300, maxTokens: 4_000 }],
    ],
  ])('%s', async (_, clients, given) => {
    const { key, standing, settled } = await limited();
    await leaveUntilRefused(key, clients, leaving(...given));
    await settled();
    const { spent } = await standing();
    expect(Number(spent)).toBeGreaterThanOrEqual(TOLERANCE * billed());
    // Calls begin while anything is left; those that are let through at once are one too many at most.
    const { maxTokens = TOKENS } = given[1];
    expect(billed()).toBeLessThanOrEqual((LIMIT + maxTokens * PRICES.output + INPUT * PRICES.input) / TOLERANCE);
    expect(Number(spent)).toBeGreaterThanOrEqual(LIMIT);
  });
});

describe('a call that its client leaves', () => {
  const leave = async (...given: Parameters<typeof leaving>): Promise<readonly Call[]> => {
    const { key, settled } = await limited(10);
    expect(await leaving(...given)(key)).toBe(true);
    return settled();
  };

  it('behind its end is billed what its provider says of it', async () => {
    for (const reasoning of [0, 900]) {
      provider.bills.length = 0;
      expect(await leave({ reasoning, text: 100, usageAfter: 300 }, { at: '"finish_reason":"stop"' })).toMatchObject([
        { outcome: 'aborted', usageSource: 'upstream', usage: { inputTokens: INPUT, outputTokens: reasoning + 100 } },
      ]);
      expect(upstream.cuts).toEqual([]);
    }
  });

  it('before it is billed what its model could have made, and never more than was held', async () => {
    const [small] = await leave({ reasoning: TOKENS }, { at: 300, maxTokens: 100 });
    expect(small).toMatchObject({ outcome: 'aborted', usageSource: 'held', usage: { outputTokens: 100 } });
    provider.bills.length = 0;
    const [large] = await leave({ reasoning: 4_000 }, { at: 300, maxTokens: 4_000 });
    expect(large).toMatchObject({ outcome: 'aborted', usageSource: 'held' });
    expect(large?.usage.outputTokens).toBeGreaterThanOrEqual(provider.bills[0]?.output as number);
    expect(large?.usage.outputTokens).toBeLessThan(3_000);
  });

  it('is billed what is known where its provider is slow to say what it used', async () => {
    const [call] = await leave({ text: 100, usageAfter: 8_000 }, { at: '"finish_reason":"stop"' });
    expect(call).toMatchObject({ outcome: 'aborted', usageSource: 'held' });
    // No time behind the end of the answer counts.
    expect(call?.usage.outputTokens).toBeLessThan(400);
    expect(call?.usage.outputTokens).toBeGreaterThanOrEqual(100);
  });
});

describe('a call that its client does not leave', () => {
  it.each([true, false])('is billed what its provider says (stream: %s)', async (stream) => {
    const { key, settled } = await limited(10);
    await (await chat(key, { reasoning: 500, text: 100 }, { stream })).text();
    expect(await settled()).toMatchObject([
      { outcome: 'ok', usageSource: 'upstream', usage: { inputTokens: INPUT, outputTokens: 600 } },
    ]);
  });

  it.each([true, false])(
    'is billed what its model could have made where that takes too long (stream: %s)',
    async (stream) => {
      const { key, settled } = await limited(10);
      await (await chat(key, { reasoning: 4_000 }, { model: 'hasty', max_tokens: 4_000, stream })).text();
      const [call] = await settled();
      expect(call).toMatchObject({ outcome: 'failed', usageSource: 'held' });
      // A whole answer goes on to its end at this provider, which no clock can tell.
      if (stream)
        expect(call?.usage.outputTokens).toBeGreaterThanOrEqual(TOLERANCE * (provider.bills[0]?.output as number));
      expect(call?.usage.outputTokens).toBeGreaterThanOrEqual(0.4 * RATE);
    },
  );

  it('is billed what its model could have made where its provider breaks off in the middle', async () => {
    const { key, settled } = await limited(10);
    await (await chat(key, { reasoning: 400, text: 600, cutAt: 500 })).text();
    const [call] = await settled();
    expect(call).toMatchObject({ outcome: 'failed', usageSource: 'held' });
    expect(call?.usage.outputTokens).toBeGreaterThanOrEqual(TOLERANCE * 500);
  });
});

describe('an answer of an Agent that is stopped', () => {
  const ask = async (wanted: Wanted, stream: boolean) => {
    const { key, settled } = await limited(10);
    const { body: agent } = await platform.call<{ id: string }>('/api/v1/core/agents', {
      method: 'POST',
      key,
      body: { name: 'Guide', model: 'm', knowledgeEnabled: false },
    });
    const base = `/api/v1/core/llm/${agent.id}/conversation`;
    const asked = platform.call<{ message: { status: string; usage: { outputTokens: number } | null } }>(base, {
      method: 'POST',
      key,
      body: { message: JSON.stringify(wanted), stream },
    });
    const stop = async (): Promise<void> => {
      await until(
        async () => (await platform.call<{ items: unknown[] }>(base, { key })).body.items.length === 1,
        'the conversation',
      );
      const [{ id }] = (await platform.call<{ items: [{ id: string }] }>(base, { key })).body.items;
      expect((await platform.call(`${base}/${id}/stop`, { method: 'POST', key })).status).toBe(200);
    };
    return { asked, stop, settled };
  };

  it.each([true, false])('is billed what its model could have made (stream: %s)', async (stream) => {
    const { asked, stop, settled } = await ask({ reasoning: 4_000 }, stream);
    await made(600);
    await stop();
    const { body } = await asked;
    const [call] = await settled();
    expect(call).toMatchObject({ outcome: 'aborted', usageSource: 'held' });
    if (stream)
      expect(call?.usage.outputTokens).toBeGreaterThanOrEqual(TOLERANCE * (provider.bills[0]?.output as number));
    else expect(body.message).toMatchObject({ status: 'stopped', usage: { outputTokens: call?.usage.outputTokens } });
    expect(call?.usage.outputTokens).toBeGreaterThanOrEqual(600);
  });

  it('behind its end is billed what its provider says of it', async () => {
    const { asked, stop, settled } = await ask({ reasoning: 900, text: 100, usageAfter: 1_000 }, true);
    await until(() => provider.bills.length === 1, 'the end of the answer');
    await stop();
    await asked;
    expect(await settled()).toMatchObject([
      { outcome: 'ok', usageSource: 'upstream', usage: { inputTokens: INPUT, outputTokens: 1_000 } },
    ]);
  });
});
