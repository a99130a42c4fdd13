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
  USAGE,
  usageChunk,
} from '../fixtures/upstream-double';
import { BASE, client, messages, platform, PROVIDER_KEY, sent, tools, upstream, withGateway } from './compat-gateway';

withGateway();

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
    return behaves(response, call);
  };
  const { status, text } = await platform.call(`${BASE}${path}`, { method: 'POST', body });
  expect([status, text.includes('\ufeff'), upstream.calls.length]).toEqual([200, false, 1]);
});
