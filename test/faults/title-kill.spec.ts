import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../e2e/child';
import { completion, json, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { until } from '../fixtures/until';

/** Kill -9 while a model thinks of a title, and a stop: the conversation is titled after the next start, once. */
const KEY = 'title-test-key-0123456789-abcdefghijklmnop';

let folder: string;
let upstream: UpstreamDouble;
let asked: number;
let isSilent: boolean;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'title-kill-'));
  upstream = await startUpstreamDouble();
  [asked, isSilent] = [0, true];
  const models = [
    { key: 'chat', kind: 'chat', provider: 'acme', pricing: 'free' },
    { key: 'titles', kind: 'chat', provider: 'acme', pricing: 'free' },
  ];
  const providers = { acme: { kind: 'openai', baseUrl: upstream.baseUrl } };
  writeFileSync(join(folder, 'models.json'), JSON.stringify({ titleModel: 'titles', providers, models }));
  const { behaviour } = upstream;
  upstream.behaviour = (response, call) => {
    if (call.body['model'] !== 'titles') return behaviour(response, call);
    asked += 1;
    return isSilent ? undefined : json(response, 200, completion({ content: 'Ferries' }, 'titles'));
  };
});
afterEach(async () => {
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

const start = () =>
  startChild('apps/api/src/main.ts', {
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    BOOTSTRAP_API_KEY: KEY,
    LOG_LEVEL: 'warn',
    MODELS_FILE: join(folder, 'models.json'),
  });
const call = async <T>({ url }: Child, path: string, method = 'GET', body?: object): Promise<T> => {
  const response = await fetch(`${url}/api/v1/${path}`, {
    method,
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as T;
};

test.each(['killed', 'stopped'] as const)(
  'a conversation whose process was %s while a model thought of its title is titled after the next start, once',
  async (how) => {
    let child = await start();
    const agent = { name: 'Guide', model: 'chat', knowledgeEnabled: false };
    const { id } = await call<{ id: string }>(child, 'core/agents', 'POST', agent);
    const path = `core/llm/${id}/conversation`;
    const { conversationId } = await call<{ conversationId: string }>(child, path, 'POST', { message: 'When?' });
    await until(() => asked === 1, 'the call');
    isSilent = false;
    if (how === 'killed') child.kill('SIGKILL');
    // Nobody waits for a title: one that was waited for in vain would not be asked for again.
    await (how === 'killed' ? child.exited : child.stop());
    child = await start();
    const read = () => call<{ title: string }>(child, `${path}/${conversationId}`);
    await until(async () => (await read()).title === 'Ferries', 'the title');
    await child.stop();
    child = await start();
    const types = await call<{ items: readonly { type: string }[] }>(
      child,
      `audit/events?stream=conversation-${conversationId}`,
    );
    await child.stop();
    expect([types.items.filter(({ type }) => type === 'ConversationTitled').length, asked]).toEqual([1, 2]);
  },
);
