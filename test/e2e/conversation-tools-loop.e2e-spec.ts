import { EVER } from '../fixtures/ever';
import { until } from '../fixtures/until';
import { startTestGateway, type TestGateway } from './gateway';
import { ADMIN_KEY } from './harness';
import { callsTool, startToolServer, type ToolServer } from './tools-world';
import { chunksIn, messageOf } from './ui-messages';

/** Answers that call tools: on the stream, in the list of messages, and waiting for their user. */

let server: ToolServer;
let gateway: TestGateway;

beforeAll(async () => {
  server = await startToolServer();
  gateway = await startTestGateway({
    environment: { TOOL_PRIVATE_HOSTS: server.host },
    chat: { tags: ['tools'] },
  });
});
afterAll(async () => {
  await gateway.stop();
  await server.stop();
});
beforeEach(() => {
  server.calls.length = 0;
  gateway.upstream.calls.length = 0;
});

const call = <T = Record<string, unknown>>(path: string, given: Parameters<typeof gateway.platform.call>[1] = {}) =>
  gateway.platform.call<T>(path, given);
const agentWith = async (approval: 'never' | 'always') => {
  const agent = await call<{ id: string }>('/api/v1/core/agents', {
    method: 'POST',
    body: { name: 'Guide', model: 'chat', knowledgeEnabled: false, tools: [server.tool(approval)] },
  });
  expect([agent.status, agent.text]).toEqual([201, agent.text]);
  return `/api/v1/core/llm/${agent.body.id}/conversation`;
};

/** A stream as the AI SDK reads it, with the ids of its events. */
const read = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(`${gateway.platform.url}${path}`, {
    ...init,
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
  });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  return { chunks: await chunksIn(text), lastId: [...text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? '' };
};
const asks = (stream: boolean) => ({
  method: 'POST',
  body: JSON.stringify({ message: 'What will the weather be?', stream }),
});

interface Message {
  readonly id: string;
  readonly status: string;
  readonly parts: readonly { readonly type: string; readonly state?: string; readonly toolCallId?: string }[];
}

it('an answer calls an HTTP tool and goes on with what it gave; the AI SDK reads each step', async () => {
  const path = await agentWith('never');
  gateway.upstream.behaviour = callsTool('Bonn', 'Ulm');
  const { chunks } = await read(path, asks(true));
  const message = await messageOf(chunks);
  expect(server.calls).toEqual(['/v1/forecast/Bonn', '/v1/forecast/Ulm']);
  const output = expect.stringContaining('Rain.') as string;
  const parts = [
    { type: 'reasoning', text: 'The forecast helps.' },
    { type: 'text', text: 'Let me look.' },
    { toolCallId: 'call_Bonn', state: 'output-available', input: { city: 'Bonn' }, output },
    { toolCallId: 'call_Ulm', state: 'output-available', input: { city: 'Ulm' }, output },
    { type: 'step-start' },
    { type: 'text', text: expect.stringContaining('It says: ') as string },
  ];
  expect(message.parts).toMatchObject([{ type: 'step-start' }, ...parts]);
  expect(chunks.at(-1)).toMatchObject({
    type: 'finish',
    finishReason: 'stop',
    messageMetadata: { usage: { totalTokens: 58 } },
  });
  const kept = await call<Message>(`${path}/${message.metadata.conversationId}/messages/${message.id}`);
  expect(kept.body).toMatchObject({ status: 'complete', parts, usage: { totalTokens: 58 } });
  expect(kept.body.parts[2]?.type).toMatch(/^tool-/);
  // Each step is a call of its own.
  const invocations = async () =>
    (await call<{ items: readonly unknown[] }>(`/api/v1/core/usage/invocations?${EVER}`)).body.items.length;
  await until(async () => (await invocations()) === 2, 'two invocations');
});

describe('a call that must be approved', () => {
  const waiting = async (...cities: readonly string[]) => {
    const path = await agentWith('always');
    gateway.upstream.behaviour = callsTool(...cities);
    const { chunks, lastId } = await read(path, asks(true));
    const message = await messageOf(chunks);
    const conversation = `${path}/${message.metadata.conversationId}`;
    const respond = (callId: string, body: unknown, others: object = {}) =>
      call(`${conversation}/messages/${message.id}/tools/${callId}`, { method: 'POST', body, ...others });
    return { path, conversation, chunks, lastId, message, respond };
  };

  it('ends the stream as `tool-calls`; once it is approved the answer goes on behind that end', async () => {
    const { conversation, chunks, lastId, message, respond } = await waiting('Bonn');
    expect(chunks.slice(-3)).toMatchObject([
      { type: 'tool-approval-request', toolCallId: 'call_Bonn' },
      { type: 'finish-step' },
      { type: 'finish', finishReason: 'tool-calls' },
    ]);
    expect(message.parts.at(-1)).toMatchObject({ state: 'approval-requested', approval: { id: 'call_Bonn' } });
    expect(server.calls).toEqual([]);
    const listed = (await call<{ items: readonly Message[] }>(`${conversation}/messages`)).body.items[0];
    // As its stream ended.
    const { model, usage } = message.metadata as { readonly model?: string; readonly usage?: object };
    expect(usage).toMatchObject({ inputTokens: expect.any(Number) });
    expect(listed).toMatchObject({
      id: message.id,
      status: 'waiting',
      finishReason: 'tool-calls',
      channel: 'api',
      model,
      usage,
    });
    expect(listed?.parts.at(-1)).toMatchObject({ state: 'approval-requested', approval: { id: 'call_Bonn' } });
    const another = await call(conversation.replace(/\/[^/]+$/, ''), {
      method: 'POST',
      body: { conversationId: message.metadata.conversationId, message: 'And?' },
    });
    expect(another.body).toMatchObject({ status: 409, code: 'turn_in_progress' });
    const approved = await respond('call_Bonn', { approved: true });
    expect([approved.status, approved.body]).toEqual([202, { messageId: message.id, status: 'streaming' }]);
    const rest = await read(`${conversation}/stream?after=${lastId}`);
    expect(rest.chunks[0]).toMatchObject({ type: 'tool-approval-response', approved: true });
    const whole = await messageOf([...chunks, ...rest.chunks]);
    expect(whole.parts).toMatchObject([
      { type: 'step-start' },
      { type: 'reasoning' },
      { text: 'Let me look.' },
      { state: 'output-available', approval: { approved: true } },
      { type: 'step-start' },
      { text: expect.stringContaining('Rain.') as string },
    ]);
    expect(server.calls).toEqual(['/v1/forecast/Bonn']);
    for (const again of [true, false])
      expect((await respond('call_Bonn', { approved: again })).body).toMatchObject({ status: 409, code: 'conflict' });
    expect(server.calls).toHaveLength(1);
  });

  it('is not made where it is denied, and the model is told', async () => {
    const { conversation, message, respond } = await waiting('Bonn', 'Ulm');
    const denied = await respond('call_Ulm', { approved: false });
    expect(denied.body).toEqual({ messageId: message.id, status: 'waiting' });
    expect((await respond('call_Bonn', { approved: false })).body).toEqual({
      messageId: message.id,
      status: 'streaming',
    });
    const { chunks } = await read(`${conversation}/stream?messageId=${message.id}`);
    expect((await messageOf(chunks)).parts.slice(3, 5)).toMatchObject([
      { state: 'output-denied', approval: { approved: false } },
      { state: 'output-denied', approval: { approved: false } },
    ]);
    expect(server.calls).toEqual([]);
    expect(JSON.stringify(gateway.upstream.calls.at(-1)?.body)).toContain('The user denied this call.');
  });

  it('waits without a stream as well, and goes when the answer is stopped', async () => {
    const path = await agentWith('always');
    gateway.upstream.behaviour = callsTool('Bonn');
    const answer = await call<{ conversationId: string; message: Message }>(path, {
      method: 'POST',
      body: { message: 'What will the weather be?' },
    });
    expect(answer.body.message).toMatchObject({ status: 'waiting' });
    expect(answer.body.message.parts.at(-1)).toMatchObject({ state: 'approval-requested' });
    const conversation = `${path}/${answer.body.conversationId}`;
    expect((await call(`${conversation}/stop`, { method: 'POST' })).body).toEqual({ stopped: true });
    const read = async () => (await call<Message>(`${conversation}/messages/${answer.body.message.id}`)).body;
    await until(async () => (await read()).status === 'stopped', 'the end of the answer');
    const kept = await read();
    expect(kept.parts.at(-1)).toMatchObject({ state: 'output-denied' });
    expect(server.calls).toEqual([]);
  });

  it("is the conversation's user's alone, and says what is wrong with an answer", async () => {
    const { conversation, message, respond } = await waiting('Bonn');
    const { key } = await gateway.platform.newCaller({ role: 'admin' });
    expect((await respond('call_Bonn', { approved: true }, { key })).status).toBe(404);
    expect((await respond('call_Ulm', { approved: true })).body).toMatchObject({
      status: 404,
      detail: expect.stringContaining('Tool call call_Ulm') as string,
    });
    const unknown = '01900000-0000-7000-8000-000000000000';
    expect(
      (await call(`${conversation}/messages/${unknown}/tools/call_Bonn`, { method: 'POST', body: { approved: true } }))
        .status,
    ).toBe(404);
    for (const body of [{}, { approved: 'yes' }, { approved: true, more: 1 }])
      expect((await respond('call_Bonn', body)).status).toBe(400);
    expect((await call<Message>(`${conversation}/messages/${message.id}`)).body.status).toBe('waiting');
    expect(server.calls).toEqual([]);
  });
});
