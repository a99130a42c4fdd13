import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  embedMany,
  generateText,
  jsonSchema,
  Output,
  RetryError,
  streamText,
  tool,
  type ToolSet,
} from 'ai';
import { behaves, chunk, EMBEDDING, events, json } from '../fixtures/upstream-double';
import { startTestGateway, type TestGateway } from './gateway';
import { ADMIN_KEY } from './harness';

let gateway: TestGateway;
let provider: ReturnType<typeof clientWith>;

const clientWith = (apiKey: string) =>
  createOpenAICompatible({ name: 'gateway', baseURL: gateway.baseUrl, apiKey, includeUsage: true });

beforeAll(async () => {
  gateway = await startTestGateway();
  provider = clientWith(ADMIN_KEY);
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.upstream.behaviour = behaves;
  gateway.upstream.calls.length = 0;
});

const prompt = 'Hello?';
const anything = jsonSchema<object>({ type: 'object', properties: {} });
// Its types do not hold under `exactOptionalPropertyTypes`.
const tools = { weather: tool({ inputSchema: anything }), clock: tool({ inputSchema: anything }) } as ToolSet;
const chat = () => provider.chatModel('chat');

describe('the AI SDK', () => {
  it('generates text', async () => {
    const { text, finishReason, usage } = await generateText({ model: chat(), prompt, maxOutputTokens: 9 });
    expect([
      text,
      finishReason,
      usage.inputTokens,
      usage.outputTokens,
      usage.inputTokenDetails.cacheReadTokens,
    ]).toEqual(['Grüße, Welt 🙂', 'stop', 19, 10, 4]);
    expect(gateway.upstream.calls[0]?.body).toMatchObject({ model: 'chat', max_completion_tokens: 9 });
  });

  it('streams text with its usage', async () => {
    const pieces: string[] = [];
    const result = streamText({ model: chat(), prompt });
    for await (const piece of result.textStream) pieces.push(piece);
    expect([pieces, await result.finishReason, (await result.usage).totalTokens]).toEqual([
      ['Grüße, ', 'Welt 🙂'],
      'stop',
      29,
    ]);
  });

  it('streams two calls of tools side by side', async () => {
    const result = streamText({ model: chat(), prompt, tools });
    const calls = await result.toolCalls;
    expect(calls.map(({ toolCallId, toolName, input }) => [toolCallId, toolName, input])).toEqual([
      ['call_a', 'weather', { city: 'Köln' }],
      ['call_b', 'clock', {}],
    ]);
    expect(await result.finishReason).toBe('tool-calls');
  });

  it('embeds with nothing set', async () => {
    const { embeddings, usage } = await embedMany({ model: provider.embeddingModel('vectors'), values: ['a', 'b'] });
    expect(embeddings).toHaveLength(2);
    expect(embeddings[1]?.every((value, index) => Math.fround(value) === EMBEDDING[index])).toBe(true);
    expect(usage.tokens).toBe(8);
  });

  it('understands errors, and does not try again what cannot succeed', async () => {
    await expect(generateText({ model: provider.chatModel('none'), prompt })).rejects.toMatchObject({
      name: 'AI_APICallError',
      statusCode: 404,
      isRetryable: false,
      message: expect.stringContaining("'none' does not exist"),
      data: { error: { code: 'model_not_found' } },
    });
    await expect(generateText({ model: clientWith('ap_wrong').chatModel('chat'), prompt })).rejects.toMatchObject({
      statusCode: 401,
      isRetryable: false,
    });
    await expect(
      generateText({ model: chat(), prompt, output: Output.object({ schema: anything }) }),
    ).rejects.toMatchObject({
      statusCode: 400,
      isRetryable: false,
      data: { error: { param: 'response_format', code: 'unsupported_parameter' } },
    });
    expect(gateway.upstream.calls).toEqual([]);
  });

  it('tries again when the provider wants less, after the time that it says', async () => {
    gateway.upstream.behaviour = (response, call) =>
      gateway.upstream.calls.length === 1 ? json(response, 429, {}, { 'retry-after': '0' }) : behaves(response, call);
    expect((await generateText({ model: chat(), prompt })).text).toBe('Grüße, Welt 🙂');
    expect(gateway.upstream.calls).toHaveLength(2);
    gateway.upstream.behaviour = (response) => json(response, 429, {}, { 'retry-after': '0' });
    const refused = await generateText({ model: chat(), prompt, maxRetries: 1 }).catch((error: unknown) => error);
    expect(
      RetryError.isInstance(refused) && APICallError.isInstance(refused.lastError) && refused.lastError.statusCode,
    ).toBe(429);
    expect(gateway.upstream.calls).toHaveLength(4);
  });

  it('learns that a stream broke', async () => {
    gateway.upstream.behaviour = (response) => events(response, chunk({ content: 'Half an' }), 'nonsense\n\n').end();
    const seen: unknown[] = [];
    for await (const part of streamText({ model: chat(), prompt, onError: () => undefined }).stream)
      if (part.type === 'error') seen.push(part.error);
    expect(seen).toEqual([expect.objectContaining({ message: expect.stringContaining('The model provider failed') })]);
  });
});
