import { ownTime } from '../fixtures/own-time';
import { until } from '../fixtures/until';
import { follow } from './follow';
import { ADMIN_KEY } from './harness';
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
  startOf,
  UNKNOWN,
  upstream,
  withConversations,
} from './conversations-world';

/** Words that stand in nothing but the message they are for. */
const [FIRST, SECOND] = ['Kelvorindane', 'Pherrowick'];

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
