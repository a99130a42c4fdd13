import { AGENT_MEMORIES, type AgentMemories } from '@app/conversations';
import { MEMORY_SCREENER, type MemoryScreener } from '@app/memory';
import { Unavailable } from '@app/kernel';
import { ADMIN_KEY, type Call } from './harness';
import { newAgent, offered, platform, post, prompts, script, upstream, withTools } from './http-tools-world';

withTools();

/** Where memories are applied and proposed, and where they are not; and turns whose memories are away. */

const CANARY = 'I like canary tea';
/** How a page asks: by the cookie of its session. */
let page: Partial<Call>;
beforeAll(async () => {
  const { headers } = await platform.call('/api/v1/session', {
    method: 'POST',
    key: null,
    body: { apiKey: ADMIN_KEY },
  });
  page = { key: null, headers: { cookie: String(headers['set-cookie']).split(';')[0] as string } };
});
afterEach(() => jest.restoreAllMocks());

/** An Agent that remembers the canary, which its user told it. */
const remembering = async (given: object = {}): Promise<string> => {
  const agentId = await newAgent(given);
  expect((await post(`/memory/${agentId}/memories`, { text: CANARY })).status).toBe(201);
  return agentId;
};
interface Told {
  readonly conversationId: string;
  readonly messageId: string;
}
const ask = async (agentId: string, body: object, call: Partial<Call> = {}): Promise<Told> => {
  const { status, text } = await post(`/llm/${agentId}/conversation`, { message: 'What to drink?', ...body }, call);
  expect(status).toBe(200);
  const [, conversationId = ''] = /"conversationId":"([^"]+)"/.exec(text) ?? [];
  const [, messageId = ''] = /"messageId":"([^"]+)"/.exec(text) ?? /"message":\{"id":"([^"]+)"/.exec(text) ?? [];
  return { conversationId, messageId };
};
const again = (agentId: string, { conversationId, messageId }: Told, body: object, call: Partial<Call> = {}) =>
  post(`/llm/${agentId}/conversation/${conversationId}/messages/${messageId}/regenerate`, body, call);
const stateOf = async (agentId: string, { conversationId, messageId }: Told): Promise<unknown> => {
  const path = `/api/v1/core/llm/${agentId}/conversation/${conversationId}/messages/${messageId}/provenance`;
  return (await platform.call(path)).body['memoryState'];
};
/** Whether the last call showed memories to the model, and let it propose. */
const inUse = (): readonly boolean[] => [prompts().includes(CANARY), offered().includes('propose_memory')];
const forget = (): void => void (upstream.calls.length = 0);

const ON = [true, true];
const OFF = [false, false];

describe('memories', () => {
  it.each<[string, () => Partial<Call>, object]>([
    ['an API key that is answered at once', () => ({}), {}],
    ['a page that is answered at once', () => page, {}],
    ['a page that is streamed to', () => page, { stream: true }],
  ])('are used and noted for %s', async (_who, call, body) => {
    const agentId = await remembering();
    const told = await ask(agentId, body, call());
    expect([inUse(), await stateOf(agentId, told)]).toEqual([ON, 'applied']);
  });

  it('are off for an API key that is streamed to: nothing is said of any, or saved', async () => {
    const agentId = await remembering();
    script.push([{ name: 'propose_memory', input: { text: 'I live in Bonn', kind: 'personal' } }], 'Done.');
    const told = await ask(agentId, { message: 'I live in Bonn.', stream: true });
    expect([inUse(), await stateOf(agentId, told)]).toEqual([OFF, 'off']);
    const { items } = (await platform.call<{ items: object[] }>(`/api/v1/core/memory/${agentId}/memories`)).body;
    expect(items).toHaveLength(1);
  });

  it('are as they were for a question that is answered once more, whoever asks', async () => {
    const agentId = await remembering();
    const streamed = await ask(agentId, { stream: true });
    for (const call of [{}, page]) expect((await again(agentId, streamed, {}, call)).status).toBe(200);
    expect(inUse()).toEqual(OFF);
    const asked = await ask(agentId, {}, page);
    forget();
    expect((await again(agentId, asked, { stream: true })).status).toBe(200);
    expect(inUse()).toEqual(ON);
  });

  it.each([
    ['public', { public: { enabled: true } }],
    ['switched off', { memoryEnabled: false }],
  ])('are off for an Agent that is %s, on every channel', async (_what, change) => {
    const agentId = await remembering();
    expect((await platform.call(`/api/v1/core/agents/${agentId}`, { method: 'PUT', body: change })).status).toBe(200);
    for (const [call, stream] of [
      [{}, false],
      [{}, true],
      [page, false],
      [page, true],
    ] as const) {
      const told = await ask(agentId, { stream }, call);
      expect([inUse(), await stateOf(agentId, told)]).toEqual([OFF, 'off']);
    }
  });

  it('are off in incognito conversations, for generation and at the gateway', async () => {
    const agentId = await remembering();
    await ask(agentId, { kind: 'incognito' });
    await ask(agentId, { kind: 'incognito', stream: true }, page);
    expect(inUse()).toEqual(OFF);
    const object = { prompt: 'What to drink?', schema: { type: 'object', properties: {} } };
    upstream.calls.length = 0;
    await post(`/llm/${agentId}/generateText`, { prompt: 'What to drink?' });
    await post(`/llm/${agentId}/generateObject`, object);
    const body = { model: 'caller', messages: [{ role: 'user', content: 'What to drink?' }], stream: true };
    expect((await platform.call('/api/compat/v1/chat/completions', { method: 'POST', body })).status).toBe(200);
    expect(upstream.calls.length).toBeGreaterThanOrEqual(3);
    expect(prompts()).not.toContain(CANARY);
    expect(prompts()).not.toContain('propose_memory');
  });
});

describe('a turn', () => {
  it('goes on without memories while their view is away, and its provenance says so', async () => {
    const agentId = await remembering();
    const { readStore } = platform.platform.host.stores;
    const find = readStore.find.bind(readStore);
    const away = jest
      .spyOn(readStore, 'find')
      .mockImplementation((view, query) =>
        view === 'memories' ? Promise.reject(new Unavailable('the views', 'a test')) : find(view, query),
      );
    const told = await ask(agentId, {});
    away.mockRestore();
    expect([inUse()[0], await stateOf(agentId, told)]).toEqual([false, 'unavailable']);
    forget();
    const after = await ask(agentId, {});
    expect([inUse(), await stateOf(agentId, after)]).toEqual([ON, 'applied']);
  });

  it('goes on while the screener is away: what is proposed is refused, and nothing of it is saved', async () => {
    const agentId = await remembering();
    const screener = platform.platform.app.get<MemoryScreener>(MEMORY_SCREENER, { strict: false });
    jest.spyOn(screener, 'screen').mockRejectedValue(new Unavailable('the screener', 'a test'));
    script.push([{ name: 'propose_memory', input: { text: 'I live in Bonn', kind: 'personal' } }], 'Done.');
    const { conversationId } = await ask(agentId, { message: 'I live in Bonn.' });
    const { text } = await platform.call(`/api/v1/core/llm/${agentId}/conversation/${conversationId}/messages`);
    expect(text).toContain('"status":"refused"');
    expect(text).toContain('it could not be checked');
    expect(text).toContain('Done.');
    const { items } = (await platform.call<{ items: object[] }>(`/api/v1/core/memory/${agentId}/memories`)).body;
    expect(items).toMatchObject([{ text: CANARY }]);
  });
});

describe('an answer whose conversation is deleted', () => {
  it('remembers nothing of it any more, also where the screener judges it only then', async () => {
    const agentId = await newAgent();
    const screener = platform.platform.app.get<MemoryScreener>(MEMORY_SCREENER, { strict: false });
    const memories = platform.platform.app.get<AgentMemories>(AGENT_MEMORIES, { strict: false });
    const screen = screener.screen.bind(screener);
    const proposing = jest.spyOn(memories, 'propose');
    const asking = Promise.withResolvers<void>();
    const deleted = Promise.withResolvers<void>();
    jest.spyOn(screener, 'screen').mockImplementation(async (...given) => {
      asking.resolve();
      await deleted.promise;
      return screen(...given);
    });
    const { conversationId } = await ask(agentId, {});
    script.push([{ name: 'propose_memory', input: { text: 'I live in Graz', kind: 'personal' } }], 'Done.');
    const answered = post(`/llm/${agentId}/conversation`, { conversationId, message: 'I live in Graz.' });
    await Promise.race([asking.promise, answered]);
    const path = `/api/v1/core/llm/${agentId}/conversation/${conversationId}?memories=true`;
    expect((await platform.call(path, { method: 'DELETE' })).status).toBe(204);
    deleted.resolve();
    await answered;
    expect(await proposing.mock.results[0]?.value).toMatchObject({ status: 'refused' });
    const headers = { 'x-read-after': (await platform.platform.host.stores.log.head()) ?? '' };
    const { body } = await platform.call<{ items: object[] }>(`/api/v1/core/memory/${agentId}/memories`, { headers });
    expect(body.items).toEqual([]);
  });
});
