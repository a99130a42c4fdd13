import { READ_STORE, type ReadStore } from '@app/read-store';
import { ownTime } from '../fixtures/own-time';
import { until } from '../fixtures/until';
import { follow } from './follow';
import { ADMIN_KEY, type Call } from './harness';
import {
  ask,
  conversationOf,
  conversationPath,
  erased,
  type Message,
  messagesOf,
  onDisk,
  platform,
  receiptOf,
  remove,
  says,
  saysAndWaits,
  send,
  UNKNOWN,
  upstream,
  withConversations,
} from './conversations-world';

/** Words that stand in nothing but the message they are for. */
const [FIRST, SECOND] = ['Kelvorindane', 'Pherrowick'];

/** How the stream of an answer begins. */
const startOf = (heard: string) =>
  JSON.parse(/data: (.*)/.exec(heard)?.[1] ?? '{}') as {
    messageId: string;
    messageMetadata: { conversationId: string };
  };

withConversations();

describe('deleting a message', () => {
  it('erases it within ten seconds, with the title made from it and a receipt, and leaves the others', async () => {
    upstream.behaviour = says(`It is ${FIRST}.`);
    const { conversationId, message: answer } = await ask(`What is ${FIRST}?`);
    upstream.behaviour = says('No.');
    await ask(`And ${SECOND}?`, { conversationId });
    const question = (await messagesOf(conversationId)).at(-1) as Message;
    expect((await conversationOf(conversationId)).title).toContain(FIRST);
    expect(onDisk(FIRST, SECOND)).toEqual([FIRST, SECOND]);

    const took = ownTime();
    for (const id of [question.id, answer.id]) {
      expect((await remove(conversationId, id)).status).toBe(204);
      await erased(`conversation-${conversationId}/${id}`);
    }
    expect(took()).toBeLessThan(10_000);
    expect(onDisk(FIRST, SECOND)).toEqual([SECOND]);

    const conversation = await conversationOf(conversationId);
    expect(conversation).toMatchObject({ title: 'New conversation', messageCount: 2 });
    const left = await messagesOf(conversationId);
    expect(left.map(({ role, parentId }) => [role, parentId])).toEqual([
      ['assistant', left[1]?.id],
      ['user', null],
    ]);
    expect(left[1]?.parts).toEqual([{ type: 'text', text: `And ${SECOND}?` }]);
    expect((await receiptOf(`conversation-${conversationId}/${question.id}`))?.data).toMatchObject({
      eventType: 'MessageDeleted',
      stream: `conversation-${conversationId}`,
      things: [`conversation-${conversationId}/${question.id}`],
    });
  });

  it('shows it as erased to auditors, and what is left in clear', async () => {
    const { conversationId, message } = await ask('What is a lighthouse?');
    const question = (await messagesOf(conversationId)).at(-1) as Message;
    await remove(conversationId, question.id);
    const stream = `conversation-${conversationId}`;
    await erased(`${stream}/${question.id}`);
    const events = await platform.call<{ items: { type: string; data: Record<string, unknown> }[] }>(
      `/api/v1/audit/events?stream=${stream}&content=true&order=asc`,
    );
    const byType = Object.fromEntries(events.body.items.map(({ type, data }) => [type, data]));
    expect(byType['UserMessageAdded']?.['parts']).toEqual({ erased: true });
    expect(byType['ConversationStarted']?.['title']).toEqual({ erased: true });
    expect(byType['ConversationTitled']?.['title']).toBe('New conversation');
    expect(byType['AssistantMessageAdded']).toMatchObject({ messageId: message.id, parts: [{ type: 'text' }] });
  });

  it('is not repeated, and nothing follows what was deleted', async () => {
    const { conversationId, message } = await ask('One.');
    expect((await remove(conversationId, message.id)).status).toBe(204);
    for (const id of [message.id, UNKNOWN]) {
      const read = await platform.call(conversationPath(`/${conversationId}/messages/${id}`));
      expect([read.status, read.body['code']]).toEqual([404, 'not_found']);
      const next = await send({ conversationId, message: 'Two.', parentId: id });
      expect([next.status, next.body['code']]).toEqual([404, 'not_found']);
      expect(next.body['errors']).toMatchObject([{ path: 'parentId', code: 'not_found' }]);
    }
    expect((await remove(conversationId, message.id)).status).toBe(204);
    expect((await remove(conversationId, UNKNOWN)).status).toBe(404);
  });

  it('keeps no answer for a repeat of its request', async () => {
    const headers = { 'idempotency-key': 'repeated-1' };
    const body = { message: 'Say Quillbranth.' };
    const first = await send(body, { headers });
    expect((await send(body, { headers })).text).toBe(first.text);
    const { conversationId, message } = first.body;
    await remove(conversationId, message.id);
    await erased(`conversation-${conversationId}/${message.id}`);
    const again = await send(body, { headers });
    expect([again.status, again.body['code']]).toEqual([404, 'not_found']);
  });

  it('is not for others: their messages, and messages of another conversation, are unknown', async () => {
    const mine = await ask('Mine.');
    const other = await ask('Another.');
    const stranger = await platform.newCaller({ role: 'admin' });
    const foreign = await remove(mine.conversationId, mine.message.id, { key: stranger.key });
    const unknown = await remove(UNKNOWN, mine.message.id, { key: stranger.key });
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect((await remove(other.conversationId, mine.message.id)).status).toBe(404);
    expect(await messagesOf(mine.conversationId)).toHaveLength(2);
  });

  it('goes with its conversation, whose deletion destroys every key below it', async () => {
    const { conversationId, message } = await ask('Say Yttermarsh.');
    const stream = `conversation-${conversationId}`;
    const { vault } = platform.platform.host.stores;
    expect((await vault.keys([stream, `${stream}/${message.id}`])).size).toBe(2);
    await platform.call(conversationPath(`/${conversationId}`), { method: 'DELETE' });
    await erased(stream);
    expect((await vault.keys([stream, `${stream}/${message.id}`])).size).toBe(0);
    expect(onDisk('Yttermarsh')).toEqual([]);
  });
});

describe('deleting against a stream', () => {
  /** A question whose answer has begun, is saved in part, and does not end by itself. */
  const begun = async (word: string) => {
    const { finish } = saysAndWaits(`It is ${word}, and`);
    const controller = new AbortController();
    const response = await fetch(`${platform.url}${conversationPath()}`, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ message: `What is ${word}?`, stream: true }),
      signal: controller.signal,
    });
    let heard = '';
    const text = new TextDecoder();
    const ended = (async () => {
      for await (const piece of response.body as AsyncIterable<Uint8Array>)
        heard += text.decode(piece, { stream: true });
      return heard;
    })();
    await until(() => heard.includes(word), 'the beginning of the answer');
    const { messageId: answerId, messageMetadata } = startOf(heard);
    const { conversationId } = messageMetadata;
    // The view may be late: then it does not know the conversation yet.
    const saved = async () =>
      (
        (await platform.call<{ items?: readonly Message[] }>(conversationPath(`/${conversationId}/messages`))).body
          .items ?? []
      ).some(({ status }) => status === 'streaming');
    await until(saved, 'what is saved meanwhile');
    return { conversationId, answerId, ended, finish };
  };

  it.each([
    ['the answer under way', 'Zanthoquill'],
    ['its question', 'Yttermarshen'],
  ])('ends it, and erases what was saved of it, by %s', async (which, word) => {
    const { conversationId, answerId, ended, finish } = await begun(word);
    const question = (await messagesOf(conversationId)).find(({ role }) => role === 'user') as Message;
    const id = which === 'its question' ? question.id : answerId;
    expect((await remove(conversationId, id)).status).toBe(204);
    expect(await ended).toMatch(/"type":"(error|abort)"/);
    finish();
    await erased(`conversation-${conversationId}/${answerId}`);
    if (id === answerId) await remove(conversationId, question.id);
    await erased(`conversation-${conversationId}/${question.id}`);
    expect(onDisk(word)).toEqual([]);
    expect(await messagesOf(conversationId)).toEqual([]);
    expect(await conversationOf(conversationId)).toMatchObject({ messageCount: 0, title: 'New conversation' });
    const resumed = await follow(`${platform.url}${conversationPath(`/${conversationId}/stream`)}`, ADMIN_KEY);
    expect(resumed.status).toBe(204);
    // The conversation goes on.
    upstream.behaviour = says('Yes.');
    expect((await ask('Is it?', { conversationId })).message.parentId).not.toBeNull();
  });

  it('is harmless while it ends by itself', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { conversationId, answerId, ended, finish } = await begun(`Draskopheim${round}`);
      const deletion = remove(conversationId, answerId);
      finish();
      expect((await deletion).status).toBe(204);
      await ended;
      await erased(`conversation-${conversationId}/${answerId}`);
      expect((await messagesOf(conversationId)).map(({ role }) => role)).toEqual(['user']);
      expect((await conversationOf(conversationId)).messageCount).toBe(1);
    }
  });
});

describe('before the views show a conversation', () => {
  /** Keeps the views of conversations from what comes, until told to release them. */
  const whileHeld = async <T>(asks: (release: () => void) => Promise<T>): Promise<T> => {
    const store = platform.platform.app.get<ReadStore>(READ_STORE);
    const commit = store.commit.bind(store);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const held = jest.spyOn(store, 'commit').mockImplementation(async (batch) => {
      if (batch.view === 'conversations' || batch.view === 'messages') await released;
      return commit(batch);
    });
    try {
      return await asks(release);
    } finally {
      release();
      held.mockRestore();
    }
  };

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
    const answered = await whileHeld(async (release) => {
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
    const late = await whileHeld(() => send({ message: 'Why?' }, { headers }));
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

  it('is read behind the position that its stream says', async () => {
    upstream.behaviour = says('Because.');
    const answered = await whileHeld(async (release) => {
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
