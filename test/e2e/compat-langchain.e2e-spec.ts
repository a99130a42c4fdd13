import { type AIMessageChunk, AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { behaves, chunk, EMBEDDING, events, json } from '../fixtures/upstream-double';
import { startTestGateway, type TestGateway } from './gateway';
import { ADMIN_KEY } from './harness';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.upstream.behaviour = behaves;
  gateway.upstream.calls.length = 0;
});

const chat = (fields: object = {}) =>
  new ChatOpenAI({ model: 'chat', apiKey: ADMIN_KEY, configuration: { baseURL: gateway.baseUrl }, ...fields });
const tools = ['weather', 'clock'].map((name) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', properties: {} } },
}));
const whole = async (stream: AsyncIterable<AIMessageChunk>) => {
  let all: AIMessageChunk | undefined;
  for await (const piece of stream) all = all === undefined ? piece : all.concat(piece);
  return all;
};

describe('LangChain', () => {
  it('completes a chat', async () => {
    expect(await chat({ maxTokens: 9 }).invoke('Hello?')).toMatchObject({
      content: 'Grüße, Welt 🙂',
      usage_metadata: { input_tokens: 19, output_tokens: 10, input_token_details: { cache_read: 4 } },
      response_metadata: { finish_reason: 'stop' },
    });
    expect(gateway.upstream.calls[0]?.body).toMatchObject({ model: 'chat', max_completion_tokens: 9 });
  });

  it('streams, with the usage that it asks for by itself', async () => {
    expect(await whole(await chat().stream('Hello?'))).toMatchObject({
      content: 'Grüße, Welt 🙂',
      usage_metadata: { total_tokens: 29 },
    });
  });

  it('streams two calls of tools side by side, and carries on with what they gave', async () => {
    const all = await whole(await chat().bindTools(tools).stream('Hello?'));
    expect(all?.tool_calls?.map(({ id, name, args }) => [id, name, args])).toEqual([
      ['call_a', 'weather', { city: 'Köln' }],
      ['call_b', 'clock', {}],
    ]);
    const turn = new AIMessage({ content: '', tool_calls: all?.tool_calls ?? [] });
    const given = ['call_a', 'call_b'].map((id) => new ToolMessage({ tool_call_id: id, content: '12' }));
    expect((await chat().invoke([new HumanMessage('Hello?'), turn, ...given])).content).toBe('Grüße, Welt 🙂');
  });

  it('embeds with nothing set', async () => {
    const embeddings = new OpenAIEmbeddings({
      model: 'vectors',
      apiKey: ADMIN_KEY,
      configuration: { baseURL: gateway.baseUrl },
    });
    const [, second] = await embeddings.embedDocuments(['a', 'b']);
    expect(second?.every((value, index) => Object.is(value, EMBEDDING[index]))).toBe(true);
  });

  it('understands errors, and does not try again what cannot succeed', async () => {
    await expect(chat({ model: 'none' }).invoke('Hello?')).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
      lc_error_code: 'MODEL_NOT_FOUND',
    });
    await expect(chat({ apiKey: 'ap_wrong' }).invoke('Hello?')).rejects.toMatchObject({
      status: 401,
      lc_error_code: 'MODEL_AUTHENTICATION',
    });
    gateway.upstream.behaviour = (response) => json(response, 400, { error: { code: 'context_length_exceeded' } });
    await expect(chat().invoke('Hello?')).rejects.toMatchObject({ name: 'ContextOverflowError' });
    expect(gateway.upstream.calls).toHaveLength(1);
  });

  it('tries again when the provider wants less', async () => {
    gateway.upstream.behaviour = (response, call) =>
      gateway.upstream.calls.length === 1 ? json(response, 429, {}, { 'retry-after': '0' }) : behaves(response, call);
    expect((await chat({ maxRetries: 1 }).invoke('Hello?')).content).toBe('Grüße, Welt 🙂');
    expect(gateway.upstream.calls).toHaveLength(2);
  });

  it('learns that a stream broke', async () => {
    gateway.upstream.behaviour = (response) => events(response, chunk({ content: 'Half an' }), 'nonsense\n\n').end();
    await expect(chat({ maxRetries: 0 }).stream('Hello?').then(whole)).rejects.toMatchObject({
      code: 'upstream_error',
    });
  });
});
