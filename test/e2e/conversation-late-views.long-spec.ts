import type { Call } from './harness';
import { whileHeld } from './held-views';
import { conversationPath, platform, says, send, startOf, upstream, withConversations } from './conversations-world';
import { callsTool, startToolServer, type ToolServer } from './tools-world';

let tools: ToolServer;
beforeAll(async () => (tools = await startToolServer()));
afterAll(() => tools.stop());

withConversations();

describe('before the views show a conversation', () => {
  const held = <T>(asks: (release: () => void) => Promise<T>): Promise<T> =>
    whileHeld(platform.platform, ['conversations', 'messages'], asks);

  type Ids = Readonly<Record<'id' | 'messageId', string>>;
  it.each<[string, (ids: Ids) => Pick<Call, 'method' | 'body'> & { at: string }, number]>([
    ['renamed', ({ id }) => ({ at: `/${id}`, method: 'PUT', body: { title: 'Why not' } }), 200],
    ['archived', ({ id }) => ({ at: `/${id}`, method: 'PUT', body: { archived: true } }), 200],
    ['deleted', ({ id }) => ({ at: `/${id}`, method: 'DELETE' }), 204],
    ['deleted with its memories', ({ id }) => ({ at: `/${id}?memories=true`, method: 'DELETE' }), 204],
    ['summarised', ({ id }) => ({ at: `/${id}/compact`, method: 'POST' }), 200],
    [
      'never of another kind',
      ({ id }) => ({ at: '', method: 'POST', body: { conversationId: id, message: 'Go on.', kind: 'incognito' } }),
      409,
    ],
    [
      'rated',
      ({ id, messageId }) => ({
        at: `/${id}/messages/${messageId}/feedback`,
        method: 'POST',
        body: { rating: 'up' },
      }),
      200,
    ],
    ['deleted in part', ({ id, messageId }) => ({ at: `/${id}/messages/${messageId}`, method: 'DELETE' }), 204],
  ])('it is %s, by its user, and unknown to others', async (_what, requestOf, status) => {
    const strangers = [await platform.newCaller({ role: 'admin' }), await platform.newCaller()];
    upstream.behaviour = says('Because.');
    const answered = await held(async (release) => {
      const streamed = await send({ message: 'Why?', stream: true });
      const { messageId, messageMetadata } = startOf(streamed.text);
      const { at, ...request } = requestOf({ id: messageMetadata.conversationId, messageId });
      const path = conversationPath(at);
      const foreign = strangers.map(async ({ key }) => (await platform.call(path, { ...request, key })).status);
      expect(await Promise.all(foreign)).toEqual([404, 404]);
      const changed = platform.call(path, request);
      // What asks the views has their answer by then; what waits for them does not.
      await Promise.race([changed, new Promise((resolve) => setTimeout(resolve, 300))]);
      release();
      return (await changed).status;
    });
    expect(answered).toBe(status);
  });

  it('has its answer in what a question is answered with, also when that is repeated', async () => {
    upstream.behaviour = says('Because.');
    const headers = { 'idempotency-key': `late-${Date.now()}` };
    const late = await held(() => send({ message: 'Why?' }, { headers }));
    const repeated = await send({ message: 'Why?' }, { headers });
    for (const { status, body } of [late, repeated])
      expect([status, body]).toMatchObject([
        200,
        { conversationId: expect.any(String), message: { role: 'assistant', parts: [{ text: 'Because.' }] } },
      ]);
    expect(late.headers['x-view-late']).toBe('true');
    expect(repeated.body).toEqual(late.body);
    const { conversationId, message } = late.body;
    const shown = await platform.call<{ items: object[] }>(conversationPath(`/${conversationId}/messages`), {
      headers: { 'x-read-after': String(late.headers['x-log-position']) },
    });
    expect(shown.body.items[0]).toEqual(message);
  });

  it('has its answer also where that waits until a call is approved', async () => {
    const agent = await platform.call<{ id: string }>('/api/v1/core/agents', {
      method: 'POST',
      body: { name: 'Guide', model: 'calling', knowledgeEnabled: false, tools: [tools.tool('always')] },
    });
    const path = `/api/v1/core/llm/${agent.body.id}/conversation`;
    upstream.behaviour = callsTool('Bonn');
    const headers = { 'idempotency-key': `waits-${Date.now()}` };
    const asks = { method: 'POST', headers, body: { message: 'Will it rain?' } } as const;
    interface Answered {
      readonly conversationId: string;
      readonly message: { readonly id: string; readonly status: string };
    }
    const late = await held(() => platform.call<Answered>(path, asks));
    expect([late.status, late.body]).toMatchObject([
      200,
      {
        message: {
          status: 'waiting',
          parts: expect.arrayContaining([expect.objectContaining({ state: 'approval-requested' })]),
        },
      },
    ]);
    expect(late.headers['x-view-late']).toBe('true');
    expect((await platform.call(path, asks)).body).toEqual(late.body);
    const { conversationId, message } = late.body;
    const shown = await platform.call(`${path}/${conversationId}/messages/${message.id}`, {
      headers: { 'x-read-after': String(late.headers['x-log-position']) },
    });
    expect(shown.body).toEqual(message);
  });

  it('is read behind the position that its stream says', async () => {
    upstream.behaviour = says('Because.');
    const answered = await held(async (release) => {
      const { text, headers } = await send({ message: 'Why?', stream: true });
      const { conversationId } = startOf(text).messageMetadata;
      const after = { 'x-read-after': String(headers['x-log-position']) };
      const early = [
        await platform.call(conversationPath(`/${conversationId}`)),
        await send({ stream: true }, { path: `/${conversationId}/messages/${startOf(text).messageId}/regenerate` }),
      ];
      const reads = ['', '/messages'].map((at) =>
        platform.call(conversationPath(`/${conversationId}${at}`), { headers: after }),
      );
      release();
      return [...early, ...(await Promise.all(reads))];
    });
    expect(answered.map(({ status }) => status)).toEqual([404, 200, 200, 200]);
    expect(answered[1]?.headers['x-log-position']).toMatch(/^\d{16}/);
  });
});
