import type { Route } from '@app/models';
import { chatParameters } from './chat-parameters';
import { chatInput, chatRequest } from './chat-request';

const messages = [{ role: 'user', content: 'Hi' }];
const read = (body: object, drop = false) => chatParameters({ messages, ...body }, drop);
/** Of a route only what a request asks of it is there. */
const forwarding = (forward: readonly string[]) =>
  ({ model: { modelId: 'big' }, upstream: { description: { forward } } }) as Route;
const rejection = (body: object) => {
  try {
    read(body);
  } catch (error) {
    const { param, code } = error as { param: string; code: string };
    return [param, code];
  }
  return undefined;
};

describe('the parameters of a chat', () => {
  it('prefer max_completion_tokens, and take null for nothing', () => {
    expect([
      read({ max_tokens: 1, max_completion_tokens: 2 }).maxTokens,
      read({ max_tokens: 1, max_completion_tokens: null }).maxTokens,
      read({ max_tokens: null }).maxTokens,
    ]).toEqual([2, 1, undefined]);
    const nothing = Object.fromEntries(
      [
        'temperature',
        'top_p',
        'stop',
        'seed',
        'tools',
        'tool_choice',
        'stream',
        'stream_options',
        'n',
        'logprobs',
        'response_format',
        'logit_bias',
        'user',
      ].map((name) => [name, null]),
    );
    expect(read(nothing)).toEqual({
      messages,
      stream: false,
      includeUsage: false,
      maxTokens: undefined,
      passed: {},
      unknown: {},
      dropped: [],
    });
  });

  it.each([
    { n: 1 },
    { logprobs: false },
    { response_format: {} },
    { response_format: { type: 'text' } },
    { logit_bias: {} },
  ])('may hold %j, which asks for nothing and goes nowhere', (body) =>
    expect(read(body)).toMatchObject({ passed: {}, unknown: {}, dropped: [] }),
  );

  it.each([
    { n: 2 },
    { n: 0 },
    { n: '1' },
    { logprobs: true },
    { response_format: { type: 'json_object' } },
    { response_format: 'text' },
    { logit_bias: { 1: 2 } },
  ])('may not hold %j, unless the instance drops it and says so', (body) => {
    const [name] = Object.keys(body);
    expect([rejection(body), read(body, true)]).toEqual([
      [name, 'unsupported_parameter'],
      expect.objectContaining({ passed: {}, unknown: {}, dropped: [name] }),
    ]);
  });

  it.each([0, -1, 2 ** 53, 2 ** 63, -(2 ** 63)])('may hold the seed %d', (seed) =>
    expect(read({ seed }).passed).toEqual({ seed }),
  );

  it('keep what is unknown aside', () =>
    expect(read({ top_k: 1, __x: {} })).toMatchObject({ passed: {}, unknown: { top_k: 1, __x: {} } }));

  it('go on where the provider wants them, and nothing that was not sent does', () => {
    const route = forwarding(['top_k', 'constructor', '__proto__']);
    const made = JSON.parse(chatRequest(read({ top_k: 1, min_p: 2 }), route)) as object;
    expect(made).toEqual({ model: 'big', messages, top_k: 1 });
  });

  it('ask for a dearer tier of service only where the provider is said to take it', () => {
    const tierOf = (tier: unknown, forward: readonly string[] = []) => {
      const request = chatRequest(read({ service_tier: tier }), forwarding(forward));
      return (JSON.parse(request) as { service_tier?: unknown }).service_tier;
    };
    expect(['auto', 'default', 'flex', 'priority', 5].map((tier) => tierOf(tier))).toEqual([
      'auto',
      'default',
      'flex',
      undefined,
      undefined,
    ]);
    expect(tierOf('priority', ['service_tier'])).toBe('priority');
  });

  it.each([
    [{ messages: undefined }, 'messages', 'missing_required_parameter'],
    [{ messages: [] }, 'messages', 'invalid_value'],
    [{ messages: ['x'] }, 'messages[0]', 'invalid_type'],
    [{ messages: [{ content: 'x' }] }, 'messages[0].role', 'missing_required_parameter'],
    [{ messages: [{ role: 'king', content: 'x' }] }, 'messages[0].role', 'invalid_value'],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content', 'missing_required_parameter'],
    [{ messages: [{ role: 'user', content: null }] }, 'messages[0].content', 'missing_required_parameter'],
    [{ messages: [{ role: 'assistant' }] }, 'messages[0].content', 'missing_required_parameter'],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content', 'invalid_type'],
    [
      { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      'messages[0].content[0].text',
      'missing_required_parameter',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: 'x' }] }] },
      'messages[0].content[0].image_url.url',
      'invalid_type',
    ],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id', 'missing_required_parameter'],
    [
      { messages: [{ role: 'assistant', tool_calls: [{}] }] },
      'messages[0].tool_calls[0].id',
      'missing_required_parameter',
    ],
    [{ top_p: 1.1 }, 'top_p', 'invalid_value'],
    [{ frequency_penalty: -2.1 }, 'frequency_penalty', 'invalid_value'],
    [{ seed: 1.5 }, 'seed', 'invalid_type'],
    [{ max_tokens: 2 ** 53 }, 'max_tokens', 'invalid_value'],
    [{ stop: [1] }, 'stop', 'invalid_type'],
    [{ tool_choice: 1 }, 'tool_choice', 'invalid_type'],
    [{ stream_options: { include_usage: 1 } }, 'stream_options.include_usage', 'invalid_type'],
  ])('name what is wrong: %j', (body, param, code) => expect(rejection(body)).toEqual([param, code]));

  it('may hold turns that are calls alone', () => {
    const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }];
    for (const turn of [
      { tool_calls: calls },
      { content: null, tool_calls: calls },
      { content: '', tool_calls: calls },
      { content: null },
    ])
      expect(rejection({ messages: [{ role: 'assistant', ...turn }] })).toBeUndefined();
  });

  it('are counted without the bytes of pictures', () => {
    const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(1_000_000)}` } };
    expect([
      chatInput(read({})).counted,
      chatInput(read({ messages: [{ role: 'user', content: [{ type: 'text', text: 'four' }, picture] }] })).counted,
    ]).toEqual([5, 1_005]);
  });

  it('are counted by their bytes, as answers are: other scripts have more tokens for each character', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '天気' } };
    const turns = ['天気はどう', [{ type: 'text', text: '天気はどう' }]].map((content) => ({
      role: 'assistant',
      content,
      tool_calls: [call],
    }));
    const bytes = 2 * (15 + Buffer.byteLength(JSON.stringify([call])));
    expect(chatInput(read({ messages: turns }))).toEqual({ counted: 8 + Math.ceil(bytes / 4), most: 8 + bytes });
  });

  it.each<[string, object]>([
    ['the call of a function', { content: null, function_call: { name: 'f', arguments: 'x'.repeat(8_000) } }],
    ['a refusal', { content: null, refusal: 'x'.repeat(8_000) }],
    ['a part with a refusal', { content: [{ type: 'refusal', refusal: 'x'.repeat(8_000) }] }],
    ['what was reasoned aloud', { content: 'a', reasoning_content: 'x'.repeat(8_000) }],
    ['a name', { content: 'a', name: 'x'.repeat(8_000) }],
    [
      'a part of another kind',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'thinking', thinking: 'x'.repeat(8_000) },
        ],
      },
    ],
  ])('are counted wherever a turn has words: %s', (_, turn) => {
    const { counted, most } = chatInput(read({ messages: [{ role: 'assistant', ...turn }] }));
    expect(counted).toBeGreaterThanOrEqual(2_004);
    expect(most).toBeGreaterThanOrEqual(8_004);
  });

  it('are counted with what goes on because the provider of any model that may answer wants it, and with nothing else', () => {
    const parameters = read({
      functions: [{ name: 'f', description: 'x'.repeat(8_000) }],
      documents: ['x'.repeat(8_000)],
      top_k: 100,
    });
    const routes = [[], ['functions', 'top_k']].map(forwarding);
    const bytes = 2 + Buffer.byteLength(JSON.stringify(parameters.unknown['functions']));
    expect(chatInput(parameters, routes)).toEqual({ counted: 4 + Math.ceil(bytes / 4), most: 4 + bytes });
  });

  it('are counted with their pictures whatever else these say', () => {
    const picture = { type: 'image_url', image_url: { url: 'https://example.com' } };
    for (const more of [{}, { text: '' }, { text: 'four' }])
      expect(
        chatInput(read({ messages: [{ role: 'user', content: [{ ...picture, ...more }] }] })).most,
      ).toBeGreaterThanOrEqual(1_004);
  });
});
