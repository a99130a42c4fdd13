import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { makeLogger } from '../../apps/api/src/http/logging';
import { until } from '../fixtures/until';
import {
  type Behaviour,
  behaves,
  chunk,
  completion,
  DONE,
  events,
  json,
  startUpstreamDouble,
  type UpstreamDouble,
  USAGE,
  usageChunk,
} from '../fixtures/upstream-double';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

const PROVIDER_KEY = 'sk-provider-secret';
const BASE = '/api/compat/v1';
const folder = mkdtempSync(join(tmpdir(), 'compat-'));
const lines: string[] = [];
let upstream: UpstreamDouble;
let platform: TestPlatform;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startUpstreamDouble();
  const file = join(folder, 'models.json');
  const provider = { kind: 'openai', baseUrl: upstream.baseUrl, apiKeyEnv: 'ACME_KEY', timeoutMs: 1_500 };
  const models = [
    { key: 'm', modelId: 'acme-big', provider: 'acme', kind: 'chat', pricing: 'free', contextWindow: 1_000 },
    { key: 'vectors', provider: 'acme', kind: 'embedding', pricing: 'free' },
    { key: 'ranks', provider: 'acme', kind: 'reranker', pricing: 'free' },
    { key: 'away', provider: 'away', kind: 'chat', pricing: 'free' },
    { key: 'saved', provider: 'away', kind: 'chat', pricing: 'free', fallback: 'm' },
    { key: 'doubted', provider: 'acme', kind: 'chat', pricing: 'free', fallback: 'm' },
    { key: 'patient', provider: 'patient', kind: 'chat', pricing: 'free' },
    { key: 'deployed', provider: 'azure', kind: 'chat', pricing: 'free' },
  ];
  const azure = { ...provider, kind: 'azure', baseUrl: upstream.baseUrl.replace('/v1', ''), apiVersion: '2026-01-01' };
  writeFileSync(
    file,
    JSON.stringify({
      rerankerModel: 'ranks',
      providers: {
        acme: provider,
        away: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1' },
        azure,
        patient: { ...provider, timeoutMs: 60_000 },
      },
      models,
    }),
  );
  platform = await startTestPlatform({
    listen: true,
    environment: { MODELS_FILE: file, ACME_KEY: PROVIDER_KEY },
    logger: makeLogger('debug', { write: (line) => void lines.push(line) }),
  });
  client = new OpenAI({ apiKey: ADMIN_KEY, baseURL: `${platform.url}${BASE}`, maxRetries: 0 });
}, 60_000);
afterAll(async () => {
  await platform.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  upstream.behaviour = behaves;
  // A success between failures: the circuit stays closed.
  await ask({});
  upstream.calls.length = 0;
  upstream.cuts.length = 0;
});

const LEAK = {
  error: {
    message: `Bad key ${PROVIDER_KEY} at http://internal.host/v1`,
    type: 'x',
    param: 'http://internal.host',
    code: 401,
  },
};
const secrets = new RegExp(`${PROVIDER_KEY}|internal\\.host|acme-big|127\\.0\\.0\\.1:|    at |undici|UND_ERR`);

const ask = async (body: object, path = '/chat/completions', signal?: AbortSignal) => {
  const response = await fetch(`${platform.url}${BASE}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }),
    ...(signal === undefined ? {} : { signal }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
};
const errorOf = (text: string) => (JSON.parse(text) as { error: object }).error;
const dataOf = (text: string) =>
  text
    .split('\n\n')
    .filter(Boolean)
    .map((event) => event.slice(6));

describe('a provider that fails before it answers', () => {
  it.each<[string, Behaviour, number, object]>([
    [
      '500',
      (response) => json(response, 500, LEAK),
      502,
      { type: 'server_error', param: null, code: 'upstream_error' },
    ],
    [
      '401',
      (response) => json(response, 401, LEAK),
      502,
      { type: 'server_error', param: null, code: 'upstream_error' },
    ],
    [
      '404',
      (response) => json(response, 404, LEAK),
      502,
      { type: 'server_error', param: null, code: 'upstream_error' },
    ],
    [
      'a redirect',
      (response) => response.writeHead(302, { location: 'http://internal.host' }).end(),
      502,
      { type: 'server_error', param: null, code: 'upstream_error' },
    ],
    [
      '429',
      (response) => json(response, 429, LEAK, { 'retry-after': '7' }),
      429,
      { type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' },
    ],
    [
      '400',
      (response) =>
        json(response, 400, {
          error: { message: PROVIDER_KEY, param: 'messages[0].content', code: 'context_length_exceeded' },
        }),
      400,
      { type: 'invalid_request_error', param: 'messages[0].content', code: 'context_length_exceeded' },
    ],
    [
      '400 and that it is too long in words alone',
      (response) =>
        json(response, 400, {
          object: 'error',
          message: `This model's maximum context length is 4096 tokens. ${PROVIDER_KEY}`,
          param: null,
          code: 400,
        }),
      400,
      { type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' },
    ],
    [
      '400 of a small server that it is too long for',
      (response) =>
        json(response, 400, {
          error: { message: 'the request exceeds the available context size (4096 tokens)', code: 400 },
        }),
      400,
      { type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' },
    ],
    [
      '422 and words',
      (response) => json(response, 422, LEAK),
      422,
      { type: 'invalid_request_error', param: null, code: null },
    ],
    ['silence', () => undefined, 504, { type: 'server_error', param: null, code: 'upstream_error' }],
    [
      'a closed connection',
      (response) => response.destroy(),
      502,
      { type: 'server_error', param: null, code: 'upstream_error' },
    ],
    [
      'a page',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>http://internal.host'),
      502,
      { type: 'server_error', param: null, code: 'upstream_error' },
    ],
    [
      '200 with an error',
      (response) => json(response, 200, LEAK),
      502,
      { type: 'server_error', param: null, code: 'upstream_error' },
    ],
  ])('with %s: true status, our words, streaming or not', async (_, behaviour, status, expected) => {
    upstream.behaviour = behaviour;
    for (const stream of [false, true]) {
      const answer = await ask({ stream });
      expect([answer.status, errorOf(answer.text)]).toEqual([status, { message: expect.any(String), ...expected }]);
      expect([answer.headers.get('content-type'), answer.headers.get('x-request-id')]).toEqual([
        'application/json; charset=utf-8',
        expect.any(String),
      ]);
      expect(answer.text).not.toMatch(secrets);
      if (status === 429) expect(answer.headers.get('retry-after')).toBe('7');
    }
    expect(lines.join('\n')).not.toMatch(/sk-provider|internal\.host/);
  });

  it('is asked again, a few times, where it may help, and not otherwise', async () => {
    let failures = 2;
    upstream.behaviour = (response, call) => (failures-- > 0 ? json(response, 503, LEAK) : behaves(response, call));
    expect([(await ask({ stream: true })).status, upstream.calls.length]).toEqual([200, 3]);
    upstream.behaviour = (response) => json(response, 503, LEAK);
    expect([(await ask({})).status, upstream.calls.length]).toEqual([502, 6]);
    upstream.behaviour = (response) => json(response, 401, LEAK);
    expect([(await ask({})).status, upstream.calls.length]).toEqual([502, 7]);
  });

  it('with a vector that is none: is asked again', async () => {
    let failures = 2;
    const broken: Behaviour = (response) => json(response, 200, { data: [{ index: 0, embedding: [1, 'x', null] }] });
    upstream.behaviour = (response, call) => (failures-- > 0 ? broken : behaves)(response, call);
    expect([(await ask({ model: 'vectors', input: 'a' }, '/embeddings')).status, upstream.calls.length]).toEqual([
      200, 3,
    ]);
    upstream.behaviour = broken;
    for (const encoding of ['float', 'base64'])
      expect((await ask({ model: 'vectors', input: 'a', encoding_format: encoding }, '/embeddings')).status).toBe(502);
  });

  it.each([
    '[{"index":0,"relevance_score":1e999}]',
    '[{"index":0,"relevance_score":"1"}]',
    '[{"index":1,"relevance_score":1}]',
    '[]',
    '{}',
  ])('with a ranking that is none: is asked again, and the client gets no half of it: %s', async (results) => {
    upstream.behaviour = (response) => json(response, 200, `{"results":${results}}`);
    const { status, text } = await ask({ model: 'ranks', query: 'q', input: ['a'] }, '/rerank');
    expect([status, errorOf(text), upstream.calls.length]).toEqual([
      502,
      expect.objectContaining({ code: 'upstream_error' }),
      3,
    ]);
  });

  it('gives way to the fallback', async () => {
    expect((await ask({ model: 'away' })).status).toBe(503);
    const answer = await ask({ model: 'saved' });
    expect([answer.status, (JSON.parse(answer.text) as { model: string }).model]).toEqual([200, 'saved']);
  });

  it.each<[string, Behaviour]>([
    ['an error in its body', (response) => json(response, 200, LEAK)],
    ['a page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['an error as its first event', (response) => events(response, LEAK, DONE).end()],
    ['an empty stream', (response) => events(response).end()],
    ['a cut before anything', (response) => events(response).write(': hello\n\n', () => response.destroy())],
  ])('with 200 and %s: is asked again, then gives way to the fallback', async (_, behaviour) => {
    upstream.behaviour = (response, call) => (call.body['model'] === 'doubted' ? behaviour : behaves)(response, call);
    for (const stream of [false, true]) {
      upstream.calls.length = 0;
      const answer = await ask({ model: 'doubted', stream });
      expect([answer.status, upstream.calls.map(({ body }) => body['model'])]).toEqual([
        200,
        ['doubted', 'doubted', 'doubted', 'acme-big'],
      ]);
      if (stream) expect(dataOf(answer.text).at(-1)).toBe('[DONE]');
    }
  });

  it('is left alone when it fails again and again', async () => {
    for (let call = 0; call < 10; call += 1) await ask({ model: 'away' });
    const answer = await ask({ model: 'away' });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-5]$/)]);
    const { body } = await platform.call<{ status: string; providers: object[] }>('/health');
    expect([body.status, body.providers]).toEqual([
      'degraded',
      expect.arrayContaining([
        { name: 'away', circuit: 'open' },
        { name: 'acme', circuit: 'closed' },
      ]),
    ]);
    expect((await platform.call('/metrics')).text).toContain('provider_circuit_open{provider="away"} 1');
  });
});

describe('a provider that fails in the middle of a stream', () => {
  const begun = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Half an' })];

  it.each<[string, Behaviour]>([
    ['is cut', (response) => void events(response, ...begun).write('\n', () => response.destroy())],
    ['ends without a reason', (response) => events(response, ...begun, DONE).end()],
    ['holds garbage', (response) => events(response, ...begun, 'data: {nonsense\n\n').end()],
    ['holds a line that is no event', (response) => events(response, ...begun, 'oops http://internal.host\n\n').end()],
    ['holds an error', (response) => events(response, ...begun, LEAK).end()],
    ['falls silent', (response) => void events(response, ...begun)],
  ])('and %s: an error event, then the end', async (_, behaviour) => {
    upstream.behaviour = (response, call) => behaviour(events(response, begun[0] as object), call);
    const { status, text } = await ask({ stream: true });
    expect(status).toBe(200);
    const data = dataOf(text);
    expect(data.at(-1)).toBe('[DONE]');
    expect(errorOf(data.at(-2) as string)).toEqual({
      message: expect.any(String),
      type: 'server_error',
      param: null,
      code: 'upstream_error',
    });
    expect(text).not.toMatch(secrets);
    await expect(async () => {
      for await (const one of await client.chat.completions.create({
        model: 'm',
        messages: [{ role: 'user', content: 'Hi' }],
        stream: true,
      }))
        void one;
    }).rejects.toMatchObject({ code: 'upstream_error' });
  });

  it('but only forgot to say it is done: the end is added', async () => {
    upstream.behaviour = (response) => events(response, ...begun, chunk({}, 'stop')).end();
    expect(dataOf((await ask({ stream: true })).text).at(-1)).toBe('[DONE]');
  });

  it('but drips, byte by byte: the stream is whole', async () => {
    const text = [...begun, chunk({}, 'stop')].map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`).join('') + DONE;
    upstream.behaviour = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const byte of Buffer.from(text)) await new Promise((resolve) => response.write(Buffer.of(byte), resolve));
      response.end();
    };
    expect((await ask({ stream: true })).text).toBe(text.replaceAll('\r', '').replaceAll('acme-big', 'm'));
  });

  it('but sends a very long line: it passes', async () => {
    const long = chunk({ content: 'x'.repeat(4_000_000) });
    upstream.behaviour = (response) => events(response, long, chunk({}, 'stop'), DONE).end();
    expect((await ask({ stream: true })).text).toHaveLength(
      JSON.stringify(long).length -
        'acme-big'.length +
        1 +
        'data: \n\n'.length +
        `data: ${JSON.stringify(chunk({}, 'stop', 'm'))}\n\n${DONE}`.length,
    );
  });
});

describe('usage that cannot be', () => {
  it.each([
    undefined,
    { prompt_tokens: -5, completion_tokens: 1, total_tokens: -4 },
    { prompt_tokens: 1e12, completion_tokens: 1, total_tokens: 1e12 },
    { prompt_tokens: 'many' },
    { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 },
    { prompt_tokens: 3.5, completion_tokens: 2, total_tokens: 5.5 },
  ])('%j is counted here', async (usage) => {
    const counted = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
    upstream.behaviour = (response, { body }) =>
      body['stream'] === true
        ? events(
            response,
            chunk({ content: 'Half an ans' }),
            chunk({}, 'stop'),
            ...(usage === undefined ? [] : [usageChunk(usage)]),
            DONE,
          ).end()
        : json(response, 200, completion({ content: 'Half an ans' }, 'acme-big', { usage }));
    expect((JSON.parse((await ask({})).text) as { usage: object }).usage).toMatchObject(counted);
    const data = dataOf((await ask({ stream: true, stream_options: { include_usage: true } })).text);
    expect(JSON.parse(data.at(-2) as string)).toMatchObject({ choices: [], usage: counted });
  });

  it('is passed on where it can', async () =>
    expect((JSON.parse((await ask({})).text) as { usage: object }).usage).toEqual(USAGE));
});

describe('a client that leaves', () => {
  it.each<[string, object, Behaviour]>([
    ['before anything came', {}, () => undefined],
    ['before a stream began', { stream: true }, () => undefined],
    ['in the middle of a stream', { stream: true }, (response) => void events(response, chunk({ content: 'a' }))],
    [
      'in the middle of an answer',
      {},
      (response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{'),
    ],
  ])('%s: the provider learns it within 100 ms', async (_, body, behaviour) => {
    upstream.behaviour = behaviour;
    const learnt: number[] = [];
    // On a machine that is busy otherwise one try may take longer; a wait that were built in would show in all.
    do {
      const controller = new AbortController();
      const answer = ask(body, undefined, controller.signal);
      await until(() => upstream.calls.length === learnt.length + 1, 'the call');
      const leftAt = performance.now();
      controller.abort();
      await expect(answer).rejects.toThrow('aborted');
      await until(() => upstream.cuts.length === learnt.length + 1, 'the cut');
      learnt.push((upstream.cuts.at(-1) as number) - leftAt);
    } while (Math.min(...learnt) >= 100 && learnt.length < 5);
    expect(Math.min(...learnt)).toBeLessThan(100);
  });

  it('at the next second: a revoked key ends its stream, and the provider learns it too', async () => {
    const { key, keyId } = await platform.newCaller();
    upstream.behaviour = (response) => void events(response, chunk({ content: 'a' }));
    const answer = await fetch(`${platform.url}${BASE}/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'patient', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    await platform.call(`/api/v1/core/api-keys/${keyId}`, { method: 'DELETE' });
    const revokedAt = performance.now();
    const data = dataOf(await answer.text());
    expect(performance.now() - revokedAt).toBeLessThan(5_000);
    expect([errorOf(data.at(-2) as string), data.at(-1)]).toEqual([
      { message: expect.any(String), type: 'invalid_request_error', param: null, code: 'invalid_api_key' },
      '[DONE]',
    ]);
    await until(() => upstream.cuts.length === 1, 'the cut');
  });
});

test('a deployment of azure style has a path and a header of its own', async () => {
  expect((await ask({ model: 'deployed' })).status).toBe(200);
  expect([
    upstream.calls[0]?.path,
    upstream.calls[0]?.headers['api-key'],
    upstream.calls[0]?.headers.authorization,
  ]).toEqual(['/openai/deployments/deployed/chat/completions?api-version=2026-01-01', PROVIDER_KEY, undefined]);
});
