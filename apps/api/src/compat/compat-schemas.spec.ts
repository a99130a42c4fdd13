import { chatParameters, CHAT_FIELDS } from './chat-parameters';
import { fieldsOf } from './checks';
import { chatBody, chatCompletion, embeddingsBody, rerankBody } from './compat-schemas';
import { embeddingParameters } from './embedding-parameters';
import { rerankParameters } from './rerank-parameters';
import { chatUsage } from './usage-report';
import { usageOf } from '@app/models';

/** The documentation has schemas, and the gateway checks by hand: both must know the same. */

/** Which names a check looks at in bodies, whatever it makes of them. */
const readBy = (check: (body: Readonly<Record<string, unknown>>) => unknown, bodies: readonly object[]) => {
  const names = new Set<string>();
  for (const body of bodies)
    check(
      new Proxy(fieldsOf(body), {
        get: (fields, name) => {
          names.add(String(name));
          return Reflect.get(fields, name) as unknown;
        },
      }),
    );
  return [...names, 'model'].toSorted();
};
const namesOf = ({ shape }: { readonly shape: object }): readonly string[] => Object.keys(shape).toSorted();

const messages = [{ role: 'user', content: 'Hi' }];
const CHATS: readonly object[] = [
  { messages },
  { messages: [{ role: 'function', name: 'f', content: [{ type: 'text', text: 'a' }] }] },
  { messages, temperature: 2, top_p: 0, frequency_penalty: -2, presence_penalty: 2, seed: 1, max_tokens: 1 },
  { messages, max_completion_tokens: 1, stop: 'a', stream: true },
  { messages, stop: ['a'], stream_options: { include_usage: true, include_obfuscation: false } },
  { messages, tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'auto', parallel_tool_calls: false },
  { messages, tools: [{ type: 'custom', custom: {} }], tool_choice: { type: 'custom' } },
  { messages, user: 'a', store: false, metadata: { a: 'b' }, service_tier: 'flex', prompt_cache_key: 'a' },
  { messages, reasoning_effort: 'low', verbosity: 'low', n: 1, logprobs: false, logit_bias: {} },
  { messages, response_format: { type: 'text' } },
  {
    messages,
    ...Object.fromEntries(CHAT_FIELDS.filter((name) => !/^(?:messages|model)$/.test(name)).map((name) => [name, null])),
  },
];
const EMBEDDINGS: readonly object[] = [
  { input: 'a' },
  { input: ['a', 'b'], encoding_format: 'base64', dimensions: 1, user: 'a' },
  { input: 'a', encoding_format: null, dimensions: null, user: null },
];
const RERANKS: readonly object[] = [
  { query: 'a', input: 'b' },
  { query: 'a', input: ['b', { text: 'c' }], top_k: 1 },
  { query: 'a', documents: ['b', { text: 'c' }], top_n: 1 },
  { query: 'a', input: null, documents: 'b', top_k: null, top_n: null },
];

describe('what the documentation takes', () => {
  it('of a chat, has every field that is known, and no other', () => {
    expect(namesOf(chatBody)).toEqual(CHAT_FIELDS.toSorted());
  });
  it('of embeddings, has every field that is read, and no other', () =>
    expect(readBy(embeddingParameters, EMBEDDINGS)).toEqual(namesOf(embeddingsBody)));
  it('of a ranking, has every field that is read, and no other', () =>
    expect(readBy(rerankParameters, RERANKS)).toEqual(namesOf(rerankBody)));

  it.each(CHATS)('is taken of a chat: %j', (body) => {
    expect(chatBody.safeParse({ model: 'a', ...body }).error).toBeUndefined();
    expect(chatParameters(fieldsOf(body), false)).toMatchObject({ unknown: {}, dropped: [] });
  });
  it.each(EMBEDDINGS)('is taken of embeddings: %j', (body) => {
    expect(embeddingsBody.safeParse({ model: 'a', ...body }).error).toBeUndefined();
    expect(embeddingParameters(fieldsOf(body)).inputs).not.toEqual([]);
  });
  it.each(RERANKS)('is taken of a ranking: %j', (body) => {
    expect(rerankBody.safeParse({ model: 'a', ...body }).error).toBeUndefined();
    expect(rerankParameters(fieldsOf(body)).documents).not.toEqual([]);
  });

  it.each<[string, object]>([
    ['n', { n: 2 }],
    ['logprobs', { logprobs: true }],
    ['response_format', { response_format: { type: 'json_object' } }],
    ['logit_bias', { logit_bias: { 1: 1 } }],
    ['tools', { tools: [{ type: 'mcp' }] }],
    ['tools', { tools: [{ type: 'function' }] }],
    ['messages', { messages: [] }],
    ['messages', { messages: [{ role: 'nobody', content: '' }] }],
    ['temperature', { temperature: 3 }],
  ])('is no %s that is rejected: %j', (name, body) => {
    expect(chatBody.safeParse({ model: 'a', messages, ...body }).success).toBe(false);
    expect(() => chatParameters({ messages, ...body }, false)).toThrow(
      expect.objectContaining({ param: expect.stringContaining(name) as string }),
    );
  });
});

it('documents every count of the usage of a chat', () => {
  const { usage } = chatCompletion.shape;
  expect(Object.keys(chatUsage(usageOf({ input: 1, output: 1 }))).toSorted()).toEqual(namesOf(usage));
});
