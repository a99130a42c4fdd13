import { ADMIN_KEY } from './harness';
import { until } from '../fixtures/until';
import { completion, json } from '../fixtures/upstream-double';
import {
  CORE,
  generate,
  invocations,
  newAgent,
  owner,
  platform,
  saying,
  send,
  sent,
  upstream,
  withGenerating,
} from './generation-world';

/** Issue 20, number 1: `generateText`, over HTTP, against a provider that does as it likes. */

withGenerating();

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const user = (content: unknown) => [{ role: 'user', content }];

describe('generateText', () => {
  it("answers plain fetch with the Agent's prompt, model and what it took, and is billed once", async () => {
    const agent = await newAgent({ systemPrompt: 'Be brief.' });
    const response = await fetch(`${platform.url}${CORE}/llm/${agent}/generateText`, {
      method: 'POST',
      headers: { 'x-api-key': owner.key, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'Hello?' }),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    expect([response.status, answer]).toEqual([
      200,
      {
        text: 'Grüße, Welt 🙂',
        finishReason: 'stop',
        sources: [],
        usage: expect.objectContaining({
          inputTokens: 19,
          outputTokens: 10,
          cost: '0.0000354',
          currency: 'USD',
        }) as object,
        model: 'chat',
        invocationId: expect.any(String) as string,
      },
    ]);
    expect(sent()[0]?.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello?' },
    ]);
    expect(await invocations(agent, 1)).toMatchObject([
      {
        id: answer['invocationId'],
        kind: 'chat',
        outcome: 'ok',
        usageSource: 'upstream',
        usage: { cost: '0.0000354' },
      },
    ]);
  });

  it('sends an image as what its bytes are, and takes nothing else for one', async () => {
    const agent = await newAgent();
    const asking = (text: string) => {
      const file = { type: 'file', mediaType: 'image/jpeg', url: `data:image/jpeg;base64,${text}` };
      return generate(agent, { model: 'sees', messages: [{ role: 'user', content: [file] }] });
    };
    expect((await asking(PNG)).status).toBe(200);
    const content = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }];
    expect(sent()).toMatchObject([{ messages: [{ role: 'user', content }] }]);
    for (const text of ['PHN2Zy8+', Buffer.from('%PDF-1.7').toString('base64'), Buffer.alloc(64).toString('base64')])
      expect(await asking(text)).toMatchObject({
        status: 400,
        body: { errors: [{ path: 'messages[0].content[0].url' }] },
      });
    expect(upstream.calls).toHaveLength(1);
  });

  it('takes messages, images for a model that sees, and every control', async () => {
    const agent = await newAgent();
    const url = `data:image/png;base64,${PNG}`;
    const answer = await generate(agent, {
      model: 'sees',
      messages: [
        { role: 'user', content: 'What is this?' },
        { role: 'assistant', content: [{ type: 'text', text: 'Show me.' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Here.' },
            { type: 'file', mediaType: 'image/png', url },
          ],
        },
      ],
      temperature: 0.5,
      topP: 0.9,
      topK: 5,
      maxOutputTokens: 7,
      stopSequences: ['END'],
      seed: 3,
    });
    expect([answer.status, answer.body.model]).toEqual([200, 'sees']);
    expect(sent()).toMatchObject([
      {
        model: 'sees',
        temperature: 0.5,
        top_p: 0.9,
        top_k: 5,
        max_completion_tokens: 7,
        stop: ['END'],
        seed: 3,
        messages: [
          { role: 'user', content: 'What is this?' },
          { role: 'assistant', content: 'Show me.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Here.' },
              { type: 'image_url', image_url: { url } },
            ],
          },
        ],
      },
    ]);
    expect(await generate(agent, { messages: user([{ type: 'file', mediaType: 'image/png', url }]) })).toMatchObject({
      status: 400,
      body: { code: 'unsupported_parameter', errors: [{ path: 'messages[0].content[0]' }] },
    });
  });

  it('searches Knowledge and cites it, unless it is told not to', async () => {
    const agent = await newAgent({ knowledgeEnabled: true });
    const { id } = (
      await send<{ id: string }>(`/knowledge/${agent}/documents`, {
        name: 'ferry.md',
        content: '# Ferries\n\nThe ferry to Vexolumir leaves at nine.',
        mimeType: 'text/markdown',
      })
    ).body;
    const document = async () =>
      (await platform.call<{ status: string }>(`${CORE}/knowledge/${agent}/documents/${id}`, { key: owner.key })).body;
    await until(async () => (await document()).status === 'Ready', 'the document');
    upstream.behaviour = saying('At nine [1], not [7].');
    const answer = await generate(agent, { prompt: 'When does the ferry to Vexolumir leave?' });
    expect(answer.body).toMatchObject({
      text: 'At nine [1], not.',
      sources: [{ type: 'source-document', title: 'ferry.md', quote: 'The ferry to Vexolumir leaves at nine.' }],
    });
    expect(JSON.stringify(sent()[0])).toContain('leaves at nine');
    await generate(agent, { prompt: 'When does the ferry to Vexolumir leave?', useKnowledge: false });
    expect(JSON.stringify(sent()[1])).not.toContain('leaves at nine');
    const off = await newAgent();
    expect(await generate(off, { prompt: 'When?', useKnowledge: true })).toMatchObject({
      status: 400,
      body: { code: 'unsupported_parameter', errors: [{ path: 'useKnowledge' }] },
    });
  });

  it.each(['temperature', 'topP', 'topK'])(
    'rejects %s by name where it is off, and sends none upstream',
    async (name) => {
      const values = { temperature: 0.3, topP: 0.5, topK: 4 };
      const agent = await newAgent({ sampling: { [name]: { enabled: false, value: 1 } } });
      expect(await generate(agent, { prompt: 'Hi', [name]: 1 })).toMatchObject({
        status: 400,
        body: { code: 'unsupported_parameter', errors: [{ path: name }] },
      });
      expect(upstream.calls).toEqual([]);
      const { [name as 'topK']: _, ...others } = values;
      expect((await generate(agent, { prompt: 'Hi', ...others })).status).toBe(200);
      const wire = { temperature: 'temperature', topP: 'top_p', topK: 'top_k' }[name] as string;
      expect(Object.keys(sent()[0] as object)).not.toContain(wire);
      expect(Object.values(sent()[0] as object)).toEqual(expect.arrayContaining(Object.values(others)));
    },
  );

  it("lets a request override the Agent's value, and sends that by default", async () => {
    const agent = await newAgent({ sampling: { temperature: { enabled: true, value: 0.2 } } });
    await generate(agent, { prompt: 'Hi' });
    await generate(agent, { prompt: 'Hi', temperature: 1.5 });
    expect(sent().map(({ temperature }) => temperature)).toEqual([0.2, 1.5]);
  });

  it('uses the models that the Agent may use, and no other', async () => {
    const agent = await newAgent({ allowedModels: ['chat'] });
    for (const model of ['sees', 'nothing', 'painter', '__proto__'])
      expect(await generate(agent, { prompt: 'Hi', model })).toMatchObject({
        status: 409,
        body: { code: 'model_not_available' },
      });
    expect((await generate(agent, { prompt: 'Hi', model: 'chat' })).status).toBe(200);
  });
});

describe('a provider that misbehaves', () => {
  it.each<[string, string | RegExp]>([
    ['{"choices":[]}', '0'],
    ['<html>', '0'],
    // Calls were made, whatever is wrong with them: each try is billed by the time it had.
    [
      '{"choices":[{"message":{"tool_calls":[{"function":{"arguments":"{"}}]},"finish_reason":"tool_calls"}]}',
      /^0\.0*[1-9]/,
    ],
  ])('answers %j: 502, and the call costs %s', async (body, cost) => {
    const agent = await newAgent();
    upstream.behaviour = (response) => json(response, 200, body);
    expect(await generate(agent, { prompt: 'Hi' })).toMatchObject({ status: 502, body: { code: 'upstream_error' } });
    expect((await invocations(agent, 1))[0]).toMatchObject({
      outcome: 'failed',
      usage: { cost: typeof cost === 'string' ? cost : expect.stringMatching(cost) },
    });
  });

  it('rejects a parameter: the caller is told which, in their words', async () => {
    const agent = await newAgent();
    upstream.behaviour = (response) =>
      json(response, 400, { error: { message: 'Unsupported value', param: 'top_p', code: 'unsupported_value' } });
    expect(await generate(agent, { prompt: 'Hi', topP: 0.5 })).toMatchObject({
      status: 400,
      body: { code: 'unsupported_parameter', errors: [{ path: 'topP' }] },
    });
  });

  it('says nothing of what it used: it is counted', async () => {
    const agent = await newAgent();
    upstream.behaviour = (response) => json(response, 200, completion({ content: 'Hello.' }, 'chat', { usage: null }));
    expect((await generate(agent, { prompt: 'Hello?' })).body.usage).toMatchObject({ inputTokens: 2, outputTokens: 2 });
    expect(await invocations(agent, 1)).toMatchObject([{ usageSource: 'counted' }]);
  });

  it('is left with its client, and what it made until then is billed', async () => {
    const agent = await newAgent();
    let closed = false;
    upstream.behaviour = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices":');
      response.once('close', () => (closed = true));
      left.abort();
    };
    const left = new AbortController();
    await expect(
      fetch(`${platform.url}${CORE}/llm/${agent}/generateText`, {
        method: 'POST',
        headers: { 'x-api-key': owner.key, 'content-type': 'application/json' },
        body: JSON.stringify({ prompt: 'Hi' }),
        signal: left.signal,
      }),
    ).rejects.toThrow();
    await until(() => closed, 'the provider is left');
    const [invocation] = await invocations(agent, 1);
    expect([invocation?.outcome, Number(invocation?.usage.cost) > 0]).toEqual(['aborted', true]);
  });
});

describe('a limit', () => {
  it('that is used up rejects before any model is called', async () => {
    const agent = await newAgent();
    await send(
      '/cost-control',
      { scope: { type: 'agent', id: agent }, amount: '0.00000001', window: 'total' },
      ADMIN_KEY,
    );
    await until(async () => (await generate(agent, { prompt: 'Hi' })).status === 429, 'the limit');
    upstream.calls.length = 0;
    expect(await generate(agent, { prompt: 'Hi' })).toMatchObject({
      status: 429,
      body: { code: 'usage_limit_exceeded' },
    });
    expect(upstream.calls).toEqual([]);
  });
});
