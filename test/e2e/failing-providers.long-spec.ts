import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVER } from '../fixtures/ever';
import { until } from '../fixtures/until';
import {
  type Behaviour,
  behaves,
  chunk,
  completion,
  events,
  json,
  startUpstreamDouble,
  type UpstreamDouble,
  USAGE,
} from '../fixtures/upstream-double';
import { startTestPlatform, type TestPlatform } from './harness';

/** What providers that fail do to Agents and Knowledge: the same as to clients of the gateway (`compat-failures`). */

const CORE = '/api/v1/core';
/** A price per million tokens, so that a token costs a millionth of its first digit. */
const priced = (input: string, output = '0') => ({ currency: 'USD', input, output });
const folder = mkdtempSync(join(tmpdir(), 'failing-providers-'));
let upstream: UpstreamDouble;
let platform: TestPlatform;
let spaceId: string;
beforeAll(async () => {
  upstream = await startUpstreamDouble();
  const file = join(folder, 'models.json');
  // Three providers on one server, told apart by their paths.
  const at = (path: string) => ({ kind: 'openai', baseUrl: upstream.baseUrl.replace('/v1', path) });
  writeFileSync(
    file,
    JSON.stringify({
      embeddingModel: 'vectors',
      titleModel: null,
      providers: { steady: at('/steady'), shaky: at('/shaky'), failing: at('/failing') },
      models: [
        { key: 'steady', provider: 'steady', kind: 'chat', pricing: priced('3', '4') },
        { key: 'shaky', provider: 'shaky', kind: 'chat', pricing: priced('1', '2'), fallback: 'steady' },
        { key: 'failing', provider: 'failing', kind: 'chat', pricing: priced('1', '2') },
        { key: 'vectors', provider: 'steady', kind: 'embedding', pricing: priced('1') },
      ],
    }),
  );
  platform = await startTestPlatform({ environment: { MODELS_FILE: file } });
  spaceId = (await send<{ id: string }>('/spaces', { name: 'Research' })).body.id;
});
afterAll(async () => {
  await platform.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  upstream.behaviour = behaves;
  upstream.calls.length = 0;
});

const send = <T>(path: string, body: object) => platform.call<T>(CORE + path, { method: 'POST', body });
const newAgent = async (model: string, knowledgeEnabled = false): Promise<string> =>
  (await send<{ id: string }>('/agents', { spaceId, name: `Agent of ${model}`, model, knowledgeEnabled })).body.id;
const ask = (agentId: string, stream = false) =>
  send<{ code?: string; message: { parts: { text?: string }[]; model: string }; usage: { cost: string } }>(
    `/llm/${agentId}/conversation`,
    { message: 'Hello?', stream },
  );
interface Invocation {
  readonly model: string;
  readonly outcome: string;
  readonly usageSource: string;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly cost: string };
}
const invocations = async (agentId: string, count: number): Promise<readonly Invocation[]> => {
  const seen = async () =>
    (await platform.call<{ items: Invocation[] }>(`${CORE}/usage/invocations?${EVER}&agentId=${agentId}`)).body.items;
  await until(async () => (await seen()).length >= count, `${count} invocations`);
  return seen();
};
const latest = async (agentId: string): Promise<unknown> => {
  const conversations = await platform.call<{ items: { id: string }[] }>(`${CORE}/llm/${agentId}/conversation`);
  const path = `${CORE}/llm/${agentId}/conversation/${conversations.body.items[0]?.id}/messages`;
  return (await platform.call<{ items: unknown[] }>(path)).body.items[0];
};
const paths = (): readonly string[] => upstream.calls.map(({ path }) => path);
/** Answers 503 so many times, then behaves. */
const failsAtFirst =
  (times: number): Behaviour =>
  (response, call) =>
    upstream.calls.length <= times ? json(response, 503, {}) : behaves(response, call);

describe('an answer of an Agent whose provider fails', () => {
  it.each([false, true])(
    'is asked for again while nobody has a word of it, and billed once; streamed: %j',
    async (stream) => {
      const agent = await newAgent('shaky');
      upstream.behaviour = failsAtFirst(2);
      const answer = await ask(agent, stream);
      expect(answer.status).toBe(200);
      expect(await latest(agent)).toMatchObject({
        status: 'complete',
        model: 'shaky',
        parts: [{ text: 'Grüße, Welt 🙂' }],
      });
      expect(paths()).toEqual(Array.from({ length: 3 }, () => '/shaky/chat/completions'));
      expect(await invocations(agent, 1)).toMatchObject([
        { model: 'shaky', outcome: 'ok', usageSource: 'upstream', usage: { inputTokens: 19, outputTokens: 10 } },
      ]);
    },
  );

  it.each([false, true])('comes from the fallback, which is named and billed; streamed: %j', async (stream) => {
    const agent = await newAgent('shaky');
    upstream.behaviour = (response, call) =>
      call.path.startsWith('/shaky') ? json(response, 503, {}) : behaves(response, call);
    expect((await ask(agent, stream)).status).toBe(200);
    expect(await latest(agent)).toMatchObject({
      status: 'complete',
      model: 'steady',
      parts: [{ text: 'Grüße, Welt 🙂' }],
    });
    expect(paths()).toEqual([
      ...Array.from({ length: 3 }, () => '/shaky/chat/completions'),
      '/steady/chat/completions',
    ]);
    // 15 tokens at 3, 4 from a cache at a tenth of that, 10 made at 4.
    expect(await invocations(agent, 1)).toMatchObject([
      { model: 'steady', outcome: 'ok', usageSource: 'upstream', usage: { cost: '0.0000862' } },
    ]);
  });

  const cutAtFirst =
    (times: number): Behaviour =>
    async (response, call) => {
      if (!call.path.startsWith('/steady') && upstream.calls.length <= times) {
        events(response, chunk({ role: 'assistant', content: 'Half of ' }), chunk({ content: 'a thought' }));
        await until(async () => (await said()).includes('thought'), 'what was saved meanwhile');
        response.destroy();
      } else await behaves(response, call);
    };
  /** What is saved of the newest answer. */
  let agentOfSaved = '';
  const said = async (): Promise<string> => JSON.stringify((await latest(agentOfSaved)) ?? '');

  it('that breaks off in the middle is asked for again where nobody streams it; each call is held and billed by itself', async () => {
    agentOfSaved = await newAgent('shaky');
    upstream.behaviour = cutAtFirst(2);
    const answer = await ask(agentOfSaved);
    expect(answer).toMatchObject({ status: 200, body: { message: { parts: [{ text: 'Grüße, Welt 🙂' }] } } });
    expect(await latest(agentOfSaved)).toMatchObject({ status: 'complete', parts: [{ text: 'Grüße, Welt 🙂' }] });
    expect(paths()).toEqual(Array.from({ length: 3 }, () => '/shaky/chat/completions'));
    const all = await invocations(agentOfSaved, 3);
    expect(all.map(({ outcome }) => outcome).toSorted()).toEqual(['failed', 'failed', 'ok']);
    const whole = all.find(({ outcome }) => outcome === 'ok');
    expect(whole).toMatchObject({ usageSource: 'upstream', usage: { inputTokens: 19, outputTokens: 10 } });
    for (const { outcome, usage } of all.filter((each) => each !== whole))
      expect([outcome, usage.inputTokens > 0, usage.outputTokens >= 4]).toEqual(['failed', true, true]);
    const sum = all.reduce((tokens, { usage }) => tokens + usage.inputTokens + usage.outputTokens, 0);
    expect(answer.body.usage).toMatchObject({ totalTokens: sum });
  });

  it('that breaks off for the third time comes from the fallback', async () => {
    agentOfSaved = await newAgent('shaky');
    upstream.behaviour = cutAtFirst(3);
    expect(await ask(agentOfSaved)).toMatchObject({ status: 200, body: { message: { model: 'steady' } } });
    expect((await invocations(agentOfSaved, 4)).map(({ model, outcome }) => `${model} ${outcome}`).toSorted()).toEqual([
      'shaky failed',
      'shaky failed',
      'shaky failed',
      'steady ok',
    ]);
  });

  it('that breaks off in the middle is not asked for again once somebody has a word of it', async () => {
    agentOfSaved = await newAgent('shaky');
    upstream.behaviour = cutAtFirst(1);
    expect((await ask(agentOfSaved, true)).status).toBe(200);
    expect(await latest(agentOfSaved)).toMatchObject({ status: 'failed', parts: [{ text: 'Half of a thought' }] });
    expect(paths()).toEqual(['/shaky/chat/completions']);
  });

  it('is rejected at once while its circuit is open, of which the gateway knows as well; nothing is billed', async () => {
    const agent = await newAgent('failing');
    upstream.behaviour = (response) => json(response, 503, {});
    await Promise.all(Array.from({ length: 10 }, () => ask(agent)));
    expect(upstream.calls).toHaveLength(30);
    upstream.behaviour = behaves;
    expect(await ask(agent)).toMatchObject({ status: 502, body: { code: 'upstream_error' } });
    const asClient = await platform.call('/api/compat/v1/chat/completions', {
      method: 'POST',
      body: { model: 'failing', messages: [{ role: 'user', content: 'Hello?' }] },
    });
    expect(asClient.status).toBe(503);
    expect(upstream.calls).toHaveLength(30);
    expect((await invocations(agent, 11)).filter(({ usage }) => usage.cost !== '0')).toEqual([]);
    expect(await latest(agent)).toMatchObject({ status: 'failed', parts: [] });
  });
});

describe('a whole answer whose provider breaks off in the middle', () => {
  /** Breaks off this often, each time a quarter of a second after it began to answer. */
  const breaksOff =
    (times: number): Behaviour =>
    (response, call) => {
      if (upstream.calls.length > times) return void behaves(response, call);
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices":');
      setTimeout(() => response.destroy(), 250).unref();
    };
  /** Tokens that may be made in that time, about. */
  const MADE = 200;
  const gatewayCalls = async () =>
    (
      await platform.call<{ items: (Invocation & { agentId?: string })[] }>(`${CORE}/usage/invocations?${EVER}`)
    ).body.items.filter(({ agentId }) => agentId === undefined || agentId === null);
  interface Answer {
    readonly usage: { readonly totalTokens: number; readonly cost: string };
    readonly invocationId: string;
  }
  const generate = (agentId: string, operation: string, more: object = {}) =>
    send<Answer & { code?: string }>(`/llm/${agentId}/${operation}`, { prompt: 'Hello?', ...more });

  it.each<[string, object]>([
    ['generateText', {}],
    ['generateObject', { schema: {} }],
  ])('of %s is held and billed for each time, and what all of them used is said', async (operation, more) => {
    const agent = await newAgent('shaky');
    upstream.behaviour = (response, call) => {
      if (upstream.calls.length <= 3) return void breaksOff(3)(response, call);
      json(response, 200, completion({ content: '1' }, 'steady', { usage: USAGE }));
    };
    const { status, body } = await generate(agent, operation, more);
    expect([status, paths().length]).toEqual([200, 4]);
    const all = await invocations(agent, 4);
    const [whole, ...broken] = all.toSorted((a, b) => b.outcome.localeCompare(a.outcome));
    expect(whole).toMatchObject({ id: body.invocationId, model: 'steady', outcome: 'ok', usageSource: 'upstream' });
    for (const each of broken) {
      expect(each).toMatchObject({ model: 'shaky', outcome: 'failed', usageSource: 'held' });
      expect(each.usage.outputTokens).toBeGreaterThan(MADE);
    }
    const sum = all.reduce((tokens, { usage }) => tokens + usage.inputTokens + usage.outputTokens, 0);
    expect(body.usage.totalTokens).toBe(sum);
  });

  it('counts against limits: one that is used up by it lets no further call begin', async () => {
    const agent = await newAgent('shaky');
    const limit = { scope: { type: 'agent', id: agent }, amount: '0.0003', window: 'total' };
    expect((await send('/cost-control', limit)).status).toBe(201);
    upstream.behaviour = breaksOff(2);
    expect(await generate(agent, 'generateText')).toMatchObject({
      status: 429,
      body: { code: 'usage_limit_exceeded' },
    });
    expect(upstream.calls).toHaveLength(1);
    expect(await invocations(agent, 1)).toMatchObject([{ outcome: 'failed', usageSource: 'held' }]);
  });

  it('of the gateway, or streamed but not yet begun, is billed for each time too', async () => {
    for (const stream of [false, true]) {
      const before = (await gatewayCalls()).length;
      upstream.calls.length = 0;
      upstream.behaviour = (response, call) => {
        if (upstream.calls.length > 1 || !stream) return void breaksOff(1)(response, call);
        events(response).write(': hello\n\n');
        setTimeout(() => response.destroy(), 250).unref();
      };
      const client = { model: 'shaky', stream, messages: [{ role: 'user', content: 'Hello?' }] };
      expect((await platform.call('/api/compat/v1/chat/completions', { method: 'POST', body: client })).status).toBe(
        200,
      );
      await until(async () => (await gatewayCalls()).length >= before + 2, 'both calls');
      const calls = (await gatewayCalls()).slice(0, 2).map(({ outcome, usageSource }) => `${outcome} ${usageSource}`);
      expect(calls.toSorted()).toEqual(['failed held', 'ok upstream']);
    }
  });
});

test('a batch of Knowledge whose provider fails is sent again, and billed once', async () => {
  const agent = await newAgent('steady', true);
  upstream.behaviour = failsAtFirst(2);
  const { body } = await send<{ id: string }>(`/knowledge/${agent}/documents`, {
    name: 'a.md',
    content: '# Zebras\n\nThey sleep standing up.',
    mimeType: 'text/markdown',
    scope: 'agent',
  });
  await until(
    async () => (await platform.call(`${CORE}/knowledge/${agent}/documents/${body.id}`)).body['status'] === 'Ready',
    'the end of ingestion',
  );
  expect(paths()).toEqual(Array.from({ length: 3 }, () => '/steady/embeddings'));
  expect(await invocations(agent, 1)).toMatchObject([
    { model: 'vectors', outcome: 'ok', usageSource: 'upstream', usage: { inputTokens: 8, cost: '0.000008' } },
  ]);
});
