import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import {
  behaves,
  chunk,
  completion,
  DONE,
  EMBEDDING,
  escaped,
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
const file = join(folder, 'models.json');
let upstream: UpstreamDouble;
let platform: TestPlatform;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startUpstreamDouble();
  const pricing = { currency: 'USD', input: '1', output: '2' };
  const models = [
    { key: 'big', modelId: 'acme-big', provider: 'acme', kind: 'chat', pricing },
    { key: 'strict', provider: 'strict', kind: 'chat', pricing },
    { key: 'org/same', provider: 'acme', kind: 'chat', maxTokensField: 'max_tokens', pricing },
    { key: 'vectors', provider: 'acme', kind: 'embedding', pricing },
    { key: 'ranks', provider: 'acme', kind: 'reranker', pricing },
  ];
  const providers = {
    acme: {
      kind: 'openai',
      baseUrl: upstream.baseUrl,
      apiKeyEnv: 'ACME_KEY',
      timeoutMs: 2_000,
      forward: ['top_k', 'input_type', 'dimensions', 'constructor'],
    },
    strict: { kind: 'openai', baseUrl: upstream.baseUrl, streamOptions: false },
  };
  writeFileSync(file, JSON.stringify({ rerankerModel: 'ranks', providers, models }));
  platform = await startTestPlatform({ listen: true, environment: { MODELS_FILE: file, ACME_KEY: PROVIDER_KEY } });
  client = new OpenAI({ apiKey: ADMIN_KEY, baseURL: `${platform.url}${BASE}` });
}, 60_000);
afterAll(async () => {
  await platform.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  upstream.behaviour = behaves;
  upstream.calls.length = 0;
});

const messages = [{ role: 'user' as const, content: 'Hello?' }];
const tools = ['weather', 'clock'].map((name) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', properties: {} } },
}));
const post = <Body = { error: Record<string, unknown> }>(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
) => platform.call<Body>(`${BASE}${path}`, { method: 'POST', body, headers });
const sent = () => upstream.calls[0]?.body as Record<string, unknown>;

describe('the official client for Node', () => {
  it('completes a chat', async () => {
    const {
      data,
      response,
      request_id: requestId,
    } = await client.chat.completions.create({ model: 'big', messages, max_tokens: 5 }).withResponse();
    expect([response.status, requestId]).toEqual([200, expect.any(String)]);
    expect(data).toMatchObject({
      object: 'chat.completion',
      model: 'big',
      choices: [
        {
          message: { role: 'assistant', content: 'Grüße, Welt 🙂', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: USAGE,
    });
    expect(upstream.calls[0]?.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
    expect(sent()).toEqual({ model: 'acme-big', messages, max_completion_tokens: 5 });
  });

  it('streams with its helper, with two tools called side by side', async () => {
    const stream = client.chat.completions.stream({ model: 'big', messages, tools });
    const { choices } = await stream.finalChatCompletion();
    const called = choices[0]?.message.tool_calls?.map((call) =>
      call.type === 'function' ? [call.id, call.function.name, call.function.arguments] : [],
    );
    expect(called).toEqual([
      ['call_a', 'weather', '{"city":"Köln"}'],
      ['call_b', 'clock', '{}'],
    ]);
    expect(choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('streams without usage by default, and with one usage chunk when it wants it', async () => {
    for (const include of [false, true]) {
      const chunks = [];
      for await (const one of await client.chat.completions.create({
        model: 'big',
        messages,
        stream: true,
        ...(include ? { stream_options: { include_usage: true } } : {}),
      }))
        chunks.push(one);
      expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Grüße, Welt 🙂');
      expect(chunks.every(({ model }) => model === 'big')).toBe(true);
      expect(chunks.filter((one) => 'usage' in one && one.usage !== null)).toEqual(
        include ? [expect.objectContaining({ choices: [], usage: USAGE })] : [],
      );
      expect(chunks.filter(({ choices }) => choices.length === 0)).toHaveLength(include ? 1 : 0);
    }
    expect(sent()['stream_options']).toEqual({ include_usage: true });
  });

  it('reads what was said from providers that write ASCII alone, as those in Python do', async () => {
    const said = 'Grüße • 你好 🙂';
    const write = (one: object): string => escaped(JSON.stringify(one)).replaceAll('":', '": ');
    upstream.behaviour = (response, { body }) =>
      body['stream'] === true
        ? events(
            response,
            ...[chunk({ content: said }), chunk({}, 'stop'), usageChunk()].map((one) => `data: ${write(one)}\n\n`),
            DONE,
          ).end()
        : json(response, 200, write(completion({ content: said }, 'acme-big')));
    expect((await client.chat.completions.create({ model: 'big', messages })).choices[0]?.message.content).toBe(said);
    const streamed = [];
    for await (const { choices } of await client.chat.completions.create({ model: 'big', messages, stream: true }))
      streamed.push(choices[0]?.delta.content ?? '');
    expect(streamed.join('')).toBe(said);
  });

  it('embeds with nothing set, which means base64, bit for bit', async () => {
    const { data, usage } = await client.embeddings.create({ model: 'vectors', input: ['a', 'b'] });
    expect(data.map(({ index }) => index)).toEqual([0, 1]);
    expect(data[1]?.embedding.every((value, index) => Object.is(value, EMBEDDING[index]))).toBe(true);
    expect(usage).toEqual({ prompt_tokens: 8, total_tokens: 8 });
    expect(sent()).toEqual({ model: 'vectors', input: ['a', 'b'] });
    const cut = await client.embeddings.create({
      model: 'vectors',
      input: 'a',
      dimensions: 1,
      encoding_format: 'float',
    });
    expect(cut.data[0]?.embedding).toEqual(EMBEDDING.slice(0, 1));
  });

  it('lists and reads models, also with a slash in the id', async () => {
    const listed = [];
    for await (const model of client.models.list()) listed.push(model.id);
    expect(listed).toEqual(['local-chat', 'local-embedding', 'big', 'strict', 'org/same', 'vectors']);
    expect(await client.models.retrieve('org/same')).toEqual({
      id: 'org/same',
      object: 'model',
      created: expect.any(Number),
      owned_by: 'acme',
    });
    const plain = await fetch(`${client.baseURL}/models/org/same`, {
      headers: { authorization: `Bearer ${client.apiKey}` },
    });
    expect([plain.status, await plain.json()]).toEqual([200, expect.objectContaining({ id: 'org/same' })]);
    await expect(client.models.retrieve('org/none')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    // Not listed, but it can be called: the configured one, and no other.
    expect(await client.models.retrieve('ranks')).toMatchObject({ id: 'ranks', object: 'model', owned_by: 'acme' });
    await expect(client.models.retrieve('local-reranker')).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
    });
  });

  it('gets errors that it understands', async () => {
    await expect(client.chat.completions.create({ model: 'none', messages })).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
      type: 'invalid_request_error',
      requestID: expect.any(String),
    });
    await expect(new OpenAI({ apiKey: 'ap_wrong', baseURL: client.baseURL }).models.list()).rejects.toMatchObject({
      status: 401,
      code: 'invalid_api_key',
      message: expect.stringMatching(/^401 Incorrect API key provided/),
    });
  });

  it('tries again what may succeed, and nothing else', async () => {
    upstream.behaviour = (response, call) =>
      upstream.calls.length === 1 ? json(response, 429, {}, { 'retry-after': '0' }) : behaves(response, call);
    expect((await client.chat.completions.create({ model: 'big', messages })).model).toBe('big');
    expect(upstream.calls).toHaveLength(2);
    upstream.behaviour = (response) => json(response, 400, {});
    await expect(client.chat.completions.create({ model: 'big', messages, stream: true })).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
    });
    expect(upstream.calls).toHaveLength(3);
  });

  it('talks to the local models without any provider', async () => {
    const { choices, usage } = await client.chat.completions.create({ model: 'local-chat', messages });
    expect([choices[0]?.message.content, usage?.total_tokens]).toEqual([
      expect.stringContaining('local model'),
      expect.any(Number),
    ]);
    const streamed = await client.chat.completions.stream({ model: 'local-chat', messages }).finalChatCompletion();
    expect(streamed.choices[0]?.message.content).toBe(choices[0]?.message.content);
    const { data } = await client.embeddings.create({ model: 'local-embedding', input: 'words' });
    expect(data[0]?.embedding).toHaveLength(512);
    expect(upstream.calls).toEqual([]);
  });
});

it.each<[string, object]>([
  ['/chat/completions', { model: 'big', messages }],
  ['/chat/completions', { model: 'big', messages, stream: true }],
  ['/embeddings', { model: 'vectors', input: 'a' }],
  ['/rerank', { model: 'ranks', query: 'q', input: ['a'] }],
])('a provider may begin with a byte order mark: %s %j', async (path, body) => {
  upstream.behaviour = (response, call) => {
    response
      .writeHead(200, { 'content-type': call.body['stream'] === true ? 'text/event-stream' : 'application/json' })
      .write('\ufeff');
    response.writeHead = () => response;
    behaves(response, call);
  };
  const { status, text } = await platform.call(`${BASE}${path}`, { method: 'POST', body });
  expect([status, text.includes('\ufeff'), upstream.calls.length]).toEqual([200, false, 1]);
});

describe('what goes to the provider', () => {
  it('is what is known, what is harmless and what its `forward` lists, under the names it knows', async () => {
    const known = {
      temperature: 0,
      top_p: 1,
      stop: ['x'],
      seed: 1,
      frequency_penalty: -2,
      presence_penalty: 2,
      tools,
      tool_choice: 'auto',
    };
    const harmless = {
      user: 'u',
      store: false,
      metadata: {},
      service_tier: 'auto',
      parallel_tool_calls: false,
      reasoning_effort: 'low',
      verbosity: 'low',
      prompt_cache_key: 'k',
    };
    const nothing = {
      n: 1,
      logprobs: false,
      response_format: { type: 'text' },
      logit_bias: {},
      top_logprobs: null,
      max_tokens: 9,
    };
    const turns = [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'clock', arguments: '{}' } }],
      },
      { role: 'assistant', tool_calls: [{ id: 'b', type: 'function', function: { name: 'clock', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'a', content: '12' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'And?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        ],
      },
    ];
    const { status } = await post('/chat/completions', {
      model: 'org/same',
      messages: turns,
      ...known,
      ...harmless,
      ...nothing,
      max_completion_tokens: 7,
      top_k: 3,
      surprise: true,
    });
    expect([status, sent()]).toEqual([
      200,
      { model: 'org/same', messages: turns, ...known, ...harmless, max_tokens: 7, top_k: 3 },
    ]);
  });

  it('has no `stream_options` where the provider refuses them, and usage is passed on or counted all the same', async () => {
    const streamed = async (model: string) => {
      let last: OpenAI.Chat.ChatCompletionChunk | undefined;
      for await (const one of await client.chat.completions.create({
        model,
        messages,
        stream: true,
        stream_options: { include_usage: true, include_obfuscation: false },
      }))
        last = one;
      return last?.usage?.prompt_tokens;
    };
    expect([await streamed('strict'), sent()]).toEqual([6, { model: 'strict', messages, stream: true }]);
    upstream.behaviour = (response) =>
      events(response, chunk({ content: 'Hi' }), chunk({}, 'stop', 'acme-big', { usage: USAGE }), DONE).end();
    expect(await streamed('strict')).toBe(USAGE.prompt_tokens);
  });

  it('names no encoding of vectors, which some refuse whatever it is, and believes their usage where it is a total alone', async () => {
    upstream.behaviour = (response, call) =>
      'encoding_format' in call.body
        ? json(response, 400, {})
        : json(response, 200, { data: [{ index: 0, embedding: [1, 2] }], usage: { total_tokens: 7 } });
    for (const encoding of ['float', 'base64', null]) {
      expect(
        (await post<{ usage: object }>('/embeddings', { model: 'vectors', input: 'a', encoding_format: encoding })).body
          .usage,
      ).toEqual({ prompt_tokens: 7, total_tokens: 7 });
    }
  });

  it("is what `forward` lists also of embeddings and rankings, but nothing that is the gateway's to say", async () => {
    const more = { input_type: 'query', top_k: 1, surprise: true, encoding_format: 'base64' };
    await post('/embeddings', { model: 'vectors', input: 'a', dimensions: 2, ...more });
    await post('/embeddings', { model: 'vectors', input: 'a', dimensions: null, input_type: null });
    const ranking = await post<{ data: object[] }>('/rerank', {
      model: 'ranks',
      query: 'q',
      input: ['a', 'b'],
      ...more,
    });
    expect(upstream.calls.map(({ body }) => body)).toEqual([
      { model: 'vectors', input: ['a'], dimensions: 2, input_type: 'query', top_k: 1 },
      { model: 'vectors', input: ['a'] },
      { model: 'ranks', query: 'q', documents: ['a', 'b'], input_type: 'query' },
    ]);
    expect(ranking.body.data).toHaveLength(1);
  });

  it.each([
    ['n', 2],
    ['logprobs', true],
    ['response_format', { type: 'json_object' }],
    ['logit_bias', { 5: 1 }],
  ])('is never %s that asks for something: it is refused, naming it', async (param, value) => {
    expect(await post('/chat/completions', { model: 'big', messages, [param]: value })).toMatchObject({
      status: 400,
      body: { error: { type: 'invalid_request_error', param, code: 'unsupported_parameter' } },
    });
    expect(upstream.calls).toEqual([]);
  });
});

describe('rerank', () => {
  const documents = ['aa', 'aaaa', 'a'];

  it.each([
    ['input', 'top_k'],
    ['documents', 'top_n'],
  ])('takes %s and %s, and answers in `data` and `results`', async (list, top) => {
    const { body } = await platform.call(`${BASE}/rerank`, {
      method: 'POST',
      body: { model: 'ranks', query: 'q', [list]: documents, [top]: 2 },
    });
    const best = [
      { index: 1, relevance_score: 4 },
      { index: 0, relevance_score: 2 },
    ];
    expect(body).toEqual({
      object: 'list',
      data: best,
      results: best,
      model: 'ranks',
      usage: { prompt_tokens: 7, total_tokens: 7 },
    });
  });

  it('serves Continue, which sends its key twice, and Open WebUI, which wants every score', async () => {
    const asContinue = await post<{ data: unknown }>(
      '/rerank',
      { model: 'ranks', query: 'q', documents },
      { authorization: `Bearer ${ADMIN_KEY}` },
    );
    expect(asContinue.body.data).toEqual([
      { index: 1, relevance_score: 4 },
      { index: 0, relevance_score: 2 },
      { index: 2, relevance_score: 1 },
    ]);
    const asOpenWebUi = await post<{ results: { index: number; relevance_score: number }[] }>('/rerank', {
      model: 'ranks',
      query: 'q',
      documents,
      top_n: documents.length,
    });
    expect(asOpenWebUi.body.results.toSorted((a, b) => a.index - b.index).map((one) => one.relevance_score)).toEqual([
      2, 4, 1,
    ]);
  });

  it.each([
    [{ query: 'q', input: ['a'] }, 400, 'invalid_body'],
    [{ model: 'ranks', input: ['a'] }, 400, 'invalid_body'],
    [{ model: 'ranks', query: 'q' }, 400, 'invalid_body'],
    [{ model: 'ranks', query: 'q', input: [] }, 400, 'invalid_input'],
    [{ model: 'ranks', query: 'q', input: ['a'], top_k: 0 }, 400, 'invalid_body'],
    [{ model: 'big', query: 'q', input: ['a'] }, 404, 'model_not_found'],
  ])('refuses %j', async (body, status, code) =>
    expect(await post('/rerank', body)).toMatchObject({ status, body: { error: { code } } }),
  );
});

describe('the catalogue', () => {
  it('shows an Agent its models', async () => {
    const { call } = platform;
    const agent = await call<{ id: string }>('/api/v1/core/agents', {
      method: 'POST',
      body: { name: 'Narrow', model: 'big', allowedModels: ['big', 'local-chat'] },
    });
    const { body } = await call(`/api/v1/core/llm/${agent.body.id}/models`);
    expect(body).toEqual({
      defaultModel: 'big',
      availableModels: ['local-chat', 'big'],
      models: [
        expect.objectContaining({ key: 'local-chat', securityTier: 'secure', pricing: 'free' }),
        {
          key: 'big',
          modelId: 'acme-big',
          displayName: 'big',
          provider: 'acme',
          region: null,
          securityTier: 'us-cloud',
          locationLabel: null,
          tags: [],
          pricing: expect.objectContaining({ currency: 'USD', input: '1', output: '2' }),
        },
      ],
    });
  });

  it('has a history of its models and prices; a wrong file changes nothing', async () => {
    const { call } = platform;
    const before = readFileSync(file, 'utf8');
    const reload = async (text: string) => {
      writeFileSync(file, text);
      return call('/api/v1/operations/models/reload', { method: 'POST' });
    };
    expect((await reload(before)).status).toBe(200);
    expect((await reload(before.replace('"org/same"', '"big"'))).body).toMatchObject({
      status: 400,
      errors: [{ message: 'MODELS_FILE is invalid: the model big is listed twice.' }],
    });
    expect((await client.models.retrieve('org/same')).id).toBe('org/same');
    expect((await reload(before.replaceAll('"input":"1"', '"input":"3"'))).status).toBe(200);
    const { body } = await call<{
      items: { actor: string; type: string; changes: { path: string; before: unknown; after: unknown }[] }[];
    }>('/api/v1/audit/objects/model/org%2Fsame/history');
    expect(body.items.map(({ type, actor }) => [type, actor.split(':')[0]])).toEqual([
      ['ModelOffered', 'key'],
      ['ModelOffered', 'system'],
    ]);
    expect(body.items[0]?.changes).toContainEqual({ path: 'pricing.input', before: '1', after: '3' });
    expect((await reload(before)).status).toBe(200);
  });
});
