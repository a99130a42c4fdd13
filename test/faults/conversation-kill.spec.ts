import { callsTool, startToolServer, type ToolServer } from '../e2e/tools-world';
import { EVER } from '../fixtures/ever';
import { chunk, events, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { slowest } from '../fixtures/slowest';
import { until } from '../fixtures/until';
import { writeModelsFile } from '../fixtures/models-file';
import { ask, call, killedProduct } from './killed-product';

/**
 * Kill -9 in the middle of an answer, and of a tool that it called: it ends as failed with what was saved, unasked and once.
 * One that waits for its user waits on.
 */
const product = killedProduct('conversation-kill');
let modelsFile: string;
let upstream: UpstreamDouble;
let server: ToolServer;
beforeEach(async () => {
  [upstream, server] = await Promise.all([startUpstreamDouble(), startToolServer()]);
  const models = [{ key: 'chat', kind: 'chat', pricing: 'free', tags: ['tools'] }];
  modelsFile = writeModelsFile(product.folder(), upstream, models, { titleModel: null });
});
afterEach(() => Promise.all([upstream.stop(), server.stop()]));

const start = () => product.start({ MODELS_FILE: modelsFile, TOOL_PRIVATE_HOSTS: server.host });
interface Message {
  readonly status: string;
  readonly parts: readonly object[];
}

/** Asks, kills the process once the list of messages shows so much, starts another and waits for the end of the answer. */
const killedAt = async (isThere: (message: Message) => boolean): Promise<readonly Message[]> => {
  let child = await start();
  const tools = [server.tool('never')];
  const agent = { name: 'Guide', model: 'chat', knowledgeEnabled: false, tools };
  const { id } = await call<{ id: string }>(child, 'core/agents', 'POST', agent);
  const path = `core/llm/${id}/conversation`;
  void call(child, path, 'POST', { message: 'Why?' }).catch(() => undefined);
  let conversation = '';
  const messages = async () => (await call<{ items: readonly Message[] }>(child, `${conversation}/messages`)).items;
  await until(async () => {
    const [found] = (await call<{ items: readonly { id: string }[] }>(child, path)).items;
    if (found === undefined) return false;
    conversation = `${path}/${found.id}`;
    return (await messages()).some(isThere);
  }, 'what is saved');
  child.kill('SIGKILL');
  await child.exited;
  child = await start();
  const slowestCall = slowest(messages);
  const startedAt = performance.now();
  await until(async () => (await messages()).every(({ status }) => status !== 'streaming'), 'the end', {
    patience: 20_000,
  });
  // On a busy machine each call takes long.
  expect(performance.now() - startedAt).toBeLessThan(10_000 + 10 * (await slowestCall()));
  const ended = await messages();
  return ended;
};

test('an answer whose process was killed in the middle ends as failed with what was saved', async () => {
  upstream.behaviour = (response) => void events(response, chunk({ content: 'Half an ' }));
  const ended = await killedAt(({ status, parts }) => status === 'streaming' && parts.length > 0);
  expect(ended).toMatchObject([{ status: 'failed', parts: [{ text: 'Half an ' }] }, { status: 'complete' }]);
});

test('a tool whose caller was killed is not called again', async () => {
  upstream.behaviour = callsTool('Bonn');
  server.behaviour = () => undefined;
  const ended = await killedAt(({ parts }) => parts.length > 2 && server.calls.length === 1);
  expect(ended).toMatchObject([
    { status: 'failed', parts: [{ type: 'reasoning' }, { text: 'Let me look.' }, { state: 'output-error' }] },
    { status: 'complete' },
  ]);
  expect(server.calls).toHaveLength(1);
});

test.each([true, false])(
  'an answer that waits for approval waits on after a kill, and goes on once it is told: %s',
  async (approved) => {
    upstream.behaviour = callsTool('Bonn');
    let child = await start();
    const tools = [server.tool('always')];
    const agent = { name: 'Guide', model: 'chat', knowledgeEnabled: false, tools };
    const { id } = await call<{ id: string }>(child, 'core/agents', 'POST', agent);
    const answer = await call<{ conversationId: string; message: Message & { readonly id: string } }>(
      child,
      `core/llm/${id}/conversation`,
      'POST',
      { message: 'Why?' },
    );
    expect(answer.message.status).toBe('waiting');
    const invocations = async () =>
      (await call<{ items: readonly unknown[] }>(child, `core/usage/invocations?${EVER}`)).items.length;
    // A call without a limit is recorded a moment behind its answer, and missing where its process dies first.
    await until(async () => (await invocations()) === 1, 'the record of the first step');
    const path = `core/llm/${id}/conversation/${answer.conversationId}/messages/${answer.message.id}`;
    child.kill('SIGKILL');
    await child.exited;
    child = await start();
    const message = async () => (await ask<Message>(child, path)).body;
    await until(async () => (await message()).status !== undefined, 'the views');
    expect(await message()).toMatchObject({ status: 'waiting', parts: answer.message.parts });
    expect(server.calls).toEqual([]);
    expect(await call(child, `${path}/tools/call_Bonn`, 'POST', { approved })).toMatchObject({ status: 'streaming' });
    await until(async () => (await message()).status === 'complete', 'the end of the answer');
    expect((await message()).parts).toMatchObject([
      { type: 'reasoning' },
      { text: 'Let me look.' },
      { state: approved ? 'output-available' : 'output-denied', approval: { approved } },
      { type: 'step-start' },
      { text: expect.stringContaining(approved ? 'Rain.' : 'denied') as string },
    ]);
    expect(server.calls).toEqual(approved ? ['/v1/forecast/Bonn'] : []);
    expect(await ask(child, `${path}/tools/call_Bonn`, 'POST', { approved })).toMatchObject({
      body: { code: 'conflict' },
    });
    expect(upstream.calls).toHaveLength(2);
    await until(async () => (await invocations()) >= 2, 'what is billed');
    expect(await invocations()).toBe(2);
  },
);
