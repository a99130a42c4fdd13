import OpenAI from 'openai';
import { chunk, DONE, events, json, USAGE } from '../fixtures/upstream-double';
import { client, messages, post, sent, tools, upstream, withGateway } from './compat-gateway';

withGateway();

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

  it('has no `stream_options` where the provider rejects them, and usage is passed on or counted all the same', async () => {
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

  it('names no encoding of vectors, which some reject whatever it is, and believes their usage where it is a total alone', async () => {
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
  ])('is never %s that asks for something: it is rejected, naming it', async (param, value) => {
    expect(await post('/chat/completions', { model: 'big', messages, [param]: value })).toMatchObject({
      status: 400,
      body: { error: { type: 'invalid_request_error', param, code: 'unsupported_parameter' } },
    });
    expect(upstream.calls).toEqual([]);
  });
});
