import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../e2e/child';
import { callsTool, startToolServer, type ToolServer } from '../e2e/tools-world';
import { EVER } from '../fixtures/ever';
import { chunk, events, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { slowest } from '../fixtures/slowest';
import { until } from '../fixtures/until';

/**
 * Kill -9 in the middle of an answer, and of a tool that it called: it ends as failed with what was saved, unasked and once.
 * One that waits for its user waits on.
 */
const KEY = 'conversation-test-key-0123456789-abcdefghijklmnop';

let folder: string;
let upstream: UpstreamDouble;
let server: ToolServer;
const running: Child[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'conversation-kill-'));
  [upstream, server] = await Promise.all([startUpstreamDouble(), startToolServer()]);
  const models = [{ key: 'chat', kind: 'chat', provider: 'acme', pricing: 'free', tags: ['tools'] }];
  const providers = { acme: { kind: 'openai', baseUrl: upstream.baseUrl } };
  writeFileSync(join(folder, 'models.json'), JSON.stringify({ titleModel: null, providers, models }));
});
afterEach(async () => {
  for (const child of running.splice(0)) await child.stop();
  await Promise.all([upstream.stop(), server.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const start = async (): Promise<Child> => {
  const child = await startChild('apps/api/src/main.ts', {
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    BOOTSTRAP_API_KEY: KEY,
    LOG_LEVEL: 'warn',
    MODELS_FILE: join(folder, 'models.json'),
    TOOL_PRIVATE_HOSTS: server.host,
  });
  running.push(child);
  return child;
};
const call = async <T>({ url }: Child, path: string, method = 'GET', body?: object): Promise<T> => {
  const response = await fetch(`${url}/api/v1/core/${path}`, {
    method,
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as T;
};
interface Message {
  readonly status: string;
  readonly parts: readonly object[];
}

/** Asks, kills the process once the list of messages shows so much, starts another and waits for the end of the answer. */
const killedAt = async (isThere: (message: Message) => boolean): Promise<readonly Message[]> => {
  let child = await start();
  const tools = [server.tool('never')];
  const agent = { name: 'Guide', model: 'chat', knowledgeEnabled: false, tools };
  const { id } = await call<{ id: string }>(child, 'agents', 'POST', agent);
  const path = `llm/${id}/conversation`;
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
    const { id } = await call<{ id: string }>(child, 'agents', 'POST', agent);
    const answer = await call<{ conversationId: string; message: Message & { readonly id: string } }>(
      child,
      `llm/${id}/conversation`,
      'POST',
      { message: 'Why?' },
    );
    expect(answer.message.status).toBe('waiting');
    const invocations = async () =>
      (await call<{ items: readonly unknown[] }>(child, `usage/invocations?${EVER}`)).items.length;
    // A call without a limit is recorded a moment behind its answer, and missing where its process dies first.
    await until(async () => (await invocations()) === 1, 'the record of the first step');
    const path = `llm/${id}/conversation/${answer.conversationId}/messages/${answer.message.id}`;
    child.kill('SIGKILL');
    await child.exited;
    child = await start();
    const message = () => call<Message>(child, path);
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
    expect(await call(child, `${path}/tools/call_Bonn`, 'POST', { approved })).toMatchObject({ code: 'conflict' });
    expect(upstream.calls).toHaveLength(2);
    await until(async () => (await invocations()) >= 2, 'what is billed');
    expect(await invocations()).toBe(2);
  },
);
