import { EVER } from '../fixtures/ever';
import { chunk, completion, DONE, events, json, USAGE, usageChunk } from '../fixtures/upstream-double';
import { isErased } from '@app/kernel';
import { until } from '../fixtures/until';
import { startTestGateway, type TestGateway } from './gateway';
import type { Call } from './harness';

const CORE = '/api/v1/core';
const BUDGET = 700;

interface Message {
  readonly id: string;
  readonly parentId: string | null;
  readonly parts: readonly { readonly text: string }[];
}
interface Turn {
  readonly conversationId: string;
  readonly message: Message;
}
interface Checkpoint {
  readonly id: string;
  readonly boundary: { readonly messageId: string; readonly part: number; readonly offset: number };
  readonly summary: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly model: string;
  readonly at: string;
}
type Sent = readonly { readonly role: string; readonly content: string }[];

let gateway: TestGateway;
let spaceId: string;
let agentId: string;
/** What the model says to a summary; undefined: it fails. */
let summary: string | undefined;
/** How the model ends it. */
let finish: string;

const words = (what: string, count = 80): string => `${what} `.repeat(count).trim();
const isSummary = (messages: Sent): boolean =>
  String(messages[0]?.content).includes('Summarise a conversation between');

beforeAll(async () => {
  gateway = await startTestGateway({
    environment: { CONVERSATION_CONTEXT_TOKENS: String(BUDGET) },
  });
  gateway.upstream.behaviour = (response, { body }) => {
    const { messages } = body as unknown as { messages: Sent };
    if (isSummary(messages))
      return summary === undefined
        ? json(response, 500, { error: { message: 'no' } })
        : json(response, 200, completion({ content: summary }, 'chat', {}, finish));
    return events(
      response,
      chunk({ role: 'assistant', content: words('answer') }),
      chunk({}, 'stop'),
      usageChunk(USAGE),
      DONE,
    ).end();
  };
  spaceId = (await call<{ id: string }>('/spaces', { body: { name: 'Compaction' } })).body.id;
  agentId = (
    await call<{ id: string }>('/agents', { body: { spaceId, name: 'A', model: 'chat', knowledgeEnabled: false } })
  ).body.id;
});
afterAll(() => gateway.stop());
beforeEach(() => {
  summary = 'They spoke of zebras.';
  finish = 'stop';
});

const call = <T = Record<string, unknown>>(path: string, given: Call = {}) =>
  gateway.platform.call<T>(`${CORE}${path}`, { method: given.body === undefined ? 'GET' : 'POST', ...given });
const conversation = (): string => `/llm/${agentId}/conversation`;

const ask = async (message: string, more: object = {}): Promise<Turn> => {
  const { status, body, text } = await call<Turn>(conversation(), { body: { message, ...more } });
  if (status !== 200) throw new Error(text);
  return body;
};
const sent = (): readonly Sent[] =>
  gateway.upstream.calls.map(({ body }) => (body as unknown as { messages: Sent }).messages);
const answered = (): Sent => sent().findLast((messages) => !isSummary(messages)) ?? [];
const checkpoints = async (conversationId: string): Promise<readonly Checkpoint[]> =>
  (await call<{ items: Checkpoint[] }>(`${conversation()}/${conversationId}/checkpoints`)).body.items;

/** A conversation that was compacted at least once. */
const long = async (exchanges = 5): Promise<readonly Turn[]> => {
  const turns = [await ask(words('question0'))];
  for (let index = 1; index < exchanges; index += 1)
    turns.push(await ask(words(`question${index}`), { conversationId: turns[0]?.conversationId }));
  return turns;
};

describe('a conversation above its budget', () => {
  it('goes on with a summary and what stands behind its boundary, while all messages can be read', async () => {
    const turns = await long();
    const { conversationId } = turns[0] as Turn;
    const [made] = await checkpoints(conversationId);
    expect(made).toMatchObject({
      summary: 'They spoke of zebras.',
      model: 'chat',
      boundary: { part: 0, messageId: expect.any(String), offset: expect.any(Number) },
    });
    expect(made?.tokensAfter).toBeLessThan(made?.tokensBefore ?? 0);
    expect(made?.tokensBefore).toBeGreaterThan(BUDGET);
    const shown = answered().map(({ content }) => content);
    expect(shown.join()).toContain('They spoke of zebras.');
    expect(shown.join()).not.toContain('question0');
    expect(shown.at(-1)).toContain('question4');
    const { body } = await call<{ items: Message[] }>(`${conversation()}/${conversationId}/messages?limit=50`);
    expect(body.items).toHaveLength(10);
    expect(body.items.at(-1)?.parts[0]?.text).toContain('question0');
  });

  it('summarises again from the summary before, and leaves other branches alone', async () => {
    const turns = await long(9);
    const { conversationId, message } = turns[0] as Turn;
    const all = await checkpoints(conversationId);
    expect(all.length).toBeGreaterThan(1);
    const summaries = sent().filter(isSummary);
    expect(summaries.at(-1)?.at(-1)?.content).toContain('They spoke of zebras.');
    await ask('Instead?', { conversationId, parentId: message.id });
    expect(answered().map(({ content }) => content)).toEqual([words('question0'), words('answer'), 'Instead?']);
    expect(await checkpoints(conversationId)).toHaveLength(all.length);
  });

  it('is answered from what fits where the summary fails, and stays as it was', async () => {
    summary = undefined;
    const turns = await long();
    const { conversationId } = turns[0] as Turn;
    expect(await checkpoints(conversationId)).toEqual([]);
    const shown = answered().map(({ content }) => content);
    expect(shown.at(-1)).toContain('question4');
    expect(shown.join()).not.toContain('question0');
    const failed = await call(`${conversation()}/${conversationId}/compact`, { body: {} });
    expect([failed.status, failed.body['code']]).toEqual([502, 'upstream_error']);
    summary = 'They spoke of zebras.';
    expect((await call(`${conversation()}/${conversationId}/compact`, { body: {} })).status).toBe(200);
    expect(await checkpoints(conversationId)).toHaveLength(1);
  });

  it.each([
    ['is empty', ' \n\t', 'stop'],
    ['was cut', 'They spoke of', 'length'],
    ['was filtered', 'They spoke of', 'content_filter'],
    ['takes more than the room that there is', words('zebras', 500), 'stop'],
  ])('stays as it was where the summary %s', async (_, said, ended) => {
    [summary, finish] = [said, ended];
    const turns = await long();
    const { conversationId } = turns[0] as Turn;
    const byHand = await call(`${conversation()}/${conversationId}/compact`, { body: {} });
    expect([byHand.status, byHand.body['code']]).toEqual([502, 'upstream_error']);
    expect(await checkpoints(conversationId)).toEqual([]);
    const { body } = await call<{ items: Message[] }>(`${conversation()}/${conversationId}/messages?limit=50`);
    expect(body.items).toHaveLength(10);
    await ask('And?', { conversationId });
    expect(answered().at(-1)?.content).toBe('And?');
    expect(
      answered()
        .map(({ content }) => content)
        .join(),
    ).not.toContain('They spoke');
  });

  it('has a summary without what no log keeps', async () => {
    summary = 'They\u0000 spoke of \ud800 zebras.';
    const turns = await long();
    const [made] = await checkpoints((turns[0] as Turn).conversationId);
    expect(made?.summary).toBe('They spoke of \ufffd zebras.');
  });

  it('loses the summaries that were made from a message with it, for ever', async () => {
    const turns = await long(9);
    const { conversationId, message } = turns[0] as Turn;
    const made = await checkpoints(conversationId);
    expect(made.length).toBeGreaterThan(1);
    const path = `${conversation()}/${conversationId}`;
    expect((await call(`${path}/messages/${message.id}`, { method: 'DELETE' })).status).toBe(204);
    expect(await checkpoints(conversationId)).toEqual([]);
    for (const { id } of made) expect((await call(`${path}/checkpoints/${id}`)).status).toBe(404);
    const erased = async () => {
      const { body } = await gateway.platform.call<{ items: { type: string; data: { summary: unknown } }[] }>(
        `/api/v1/audit/events?stream=conversation-${conversationId}&type=ConversationCompacted&content=true`,
      );
      return body.items.length === made.length && body.items.every(({ data }) => isErased(data.summary));
    };
    await until(erased, 'the end of the summaries');
    const calls = gateway.upstream.calls.length;
    await ask('And?', { conversationId });
    const again = sent().slice(calls).filter(isSummary);
    expect(again.length).toBeGreaterThan(0);
    expect(again[0]?.at(-1)?.content).not.toContain('They spoke of zebras.');
  });

  it('meters what a summary takes', async () => {
    const others = agentId;
    const body = { spaceId, name: 'Metered', model: 'chat', knowledgeEnabled: false };
    agentId = (await call<{ id: string }>('/agents', { body })).body.id;
    const before = gateway.upstream.calls.length;
    await long();
    const made = gateway.upstream.calls.length - before;
    expect(made).toBeGreaterThan(5);
    const usage = `/llm/${agentId}/usage?${EVER}`;
    agentId = others;
    const metered = async () => (await call<{ totals: { calls: number } }>(usage)).body.totals.calls === made;
    await until(metered, 'a record of each call');
  });
});

describe('by hand', () => {
  it('a conversation is summarised at once, and a repeat of the command finds its checkpoint', async () => {
    const { conversationId } = await ask(words('short', 20));
    await ask(words('more', 20), { conversationId });
    const path = `${conversation()}/${conversationId}/compact`;
    const headers = { 'idempotency-key': `compact-${conversationId}` };
    const made = await call<Checkpoint>(path, { method: 'POST', headers });
    expect([made.status, made.body.summary]).toEqual([200, 'They spoke of zebras.']);
    const calls = gateway.upstream.calls.length;
    expect((await call<Checkpoint>(path, { method: 'POST', headers })).body.id).toBe(made.body.id);
    expect(gateway.upstream.calls).toHaveLength(calls);
    const listed = await checkpoints(conversationId);
    expect(listed.map(({ id }) => id)).toEqual([made.body.id]);
    const one = `${conversation()}/${conversationId}/checkpoints`;
    expect((await call(`${one}/${made.body.id}`)).body).toEqual(listed[0]);
    expect((await call(`${one}/${conversationId}`)).status).toBe(404);
    const { key } = await gateway.platform.newCaller({ role: 'admin' });
    expect((await call(`${one}/${made.body.id}`, { key })).status).toBe(404);
    await ask('And?', { conversationId });
    expect(
      answered()
        .map(({ content }) => content)
        .join(),
    ).toContain('They spoke of zebras.');
    const { body } = await call<{ revision: number }>(`${conversation()}/${conversationId}`);
    const renamed = await call(`${conversation()}/${conversationId}`, {
      method: 'PUT',
      headers: { 'if-match': `"${body.revision}"` },
      body: { title: 'Zebras' },
    });
    expect(renamed.status).toBe(200);
  });

  it('one in which nothing was said since has the summary that is there', async () => {
    const { conversationId } = await ask('Hello?');
    const path = `${conversation()}/${conversationId}/compact`;
    const made = await call<Checkpoint>(path, { method: 'POST' });
    const calls = gateway.upstream.calls.length;
    const again = await call<Checkpoint>(path, { method: 'POST' });
    expect([made.status, again.status, again.body]).toEqual([200, 200, made.body]);
    expect(gateway.upstream.calls).toHaveLength(calls);
  });

  it('those who ask at once, and repeat it later by whatever key, have one and the same summary', async () => {
    const turns = await long(3);
    const { conversationId } = turns[0] as Turn;
    const path = `${conversation()}/${conversationId}/compact`;
    const compact = (key: string) => call<Checkpoint>(path, { method: 'POST', headers: { 'idempotency-key': key } });
    const keys = ['one', 'two', 'three'].map((key) => `${key}-${conversationId}`);
    const made = await Promise.all(keys.map(compact));
    const calls = gateway.upstream.calls.length;
    const again = await Promise.all([...keys, `four-${conversationId}`].map(compact));
    expect(new Set([...made, ...again].map(({ body }) => body.id)).size).toBe(1);
    expect(gateway.upstream.calls).toHaveLength(calls);
    await ask(words('more'), { conversationId });
    expect((await compact(`five-${conversationId}`)).body.id).not.toBe(made[0]?.body.id);
  });

  it('nobody else reads or makes a checkpoint', async () => {
    const { conversationId } = await ask(words('mine'));
    const stranger = await gateway.platform.newCaller({ permissions: ['llm'], allAgents: true });
    await call(`/spaces/${spaceId}/members/${stranger.userId}`, { method: 'PUT', body: { role: 'viewer' } });
    for (const [path, method] of [
      ['compact', 'POST'],
      ['checkpoints', 'GET'],
    ] as const) {
      const own = await call(`${conversation()}/${conversationId}/${path}`, { method, key: stranger.key });
      const unknown = await call(`${conversation()}/01900000-0000-7000-8000-00000000000f/${path}`, { method });
      expect([own.status, unknown.status]).toEqual([404, 404]);
    }
  });

  it('what was summarised goes with its conversation', async () => {
    const { conversationId } = await ask(words('gone', 20));
    await call(`${conversation()}/${conversationId}/compact`, { method: 'POST' });
    await call(`${conversation()}/${conversationId}`, { method: 'DELETE' });
    expect((await call(`${conversation()}/${conversationId}/checkpoints`)).status).toBe(404);
  });
});
