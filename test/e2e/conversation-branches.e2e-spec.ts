import {
  agentId,
  ask,
  conversationPath,
  erased,
  messagesOf,
  type Message,
  onDisk,
  platform,
  remove,
  says,
  saysAndWaits,
  send,
  UNKNOWN,
  upstream,
  withConversations,
} from './conversations-world';
import { json } from '../fixtures/upstream-double';
import { until } from '../fixtures/until';

withConversations();

const path = (conversationId: string, messageId: string, action: string): string =>
  `/${conversationId}/messages/${messageId}/${action}`;

/** What the model was shown last, role and text. */
const shown = (): readonly (readonly [string, string])[] =>
  ((upstream.calls.at(-1)?.body['messages'] ?? []) as { role: string; content: unknown }[])
    .filter(({ role }) => role !== 'system')
    .map(({ role, content }) => [role, typeof content === 'string' ? content : JSON.stringify(content)] as const);

describe('an edited question', () => {
  it('stands beside the first one, and is answered as if that had never been', async () => {
    const { conversationId, message: first } = await ask('What is one?');
    const question = (await messagesOf(conversationId))[1] as Message;
    await ask('And two?', { conversationId });
    upstream.behaviour = says('Three.');
    const edited = await ask('What is three?', { conversationId, parentId: null });
    expect(shown()).toEqual([['user', 'What is three?']]);
    const further = await ask('And four?', { conversationId, parentId: first.id });
    expect(shown().map(([, text]) => text)).toEqual(['What is one?', expect.any(String), 'And four?']);

    const all = await messagesOf(conversationId);
    expect(all).toHaveLength(8);
    const parentOf = (id: string | null) => all.find((message) => message.id === id)?.parentId;
    expect([parentOf(question.id), parentOf(edited.message.parentId)]).toEqual([null, null]);
    expect(parentOf(further.message.parentId)).toBe(first.id);
    expect(all.filter(({ parentId }) => parentId === first.id)).toHaveLength(2);
  });
});

describe('an answer that is made once more', () => {
  it('stands beside the first one, by the id of the question or of an answer, by another model too', async () => {
    const { conversationId, message: first } = await ask('Why?');
    upstream.behaviour = says('Because.');
    for (const [id, model] of [
      [first.id, undefined],
      [first.parentId, 'other'],
    ] as const) {
      const again = await send(model === undefined ? {} : { model }, {
        path: path(conversationId, id ?? '', 'regenerate'),
      });
      expect([again.status, again.text]).toEqual([200, again.text]);
      expect(again.body.message).toMatchObject({
        parentId: first.parentId,
        parts: [{ type: 'text', text: 'Because.' }],
        model: model ?? 'm',
        channel: 'api',
      });
      expect(shown()).toEqual([['user', 'Why?']]);
    }
    const all = await messagesOf(conversationId);
    expect(all.map(({ role }) => role)).toEqual(['assistant', 'assistant', 'assistant', 'user']);
    expect(new Set(all.slice(0, 3).map(({ parentId }) => parentId))).toEqual(new Set([first.parentId]));
    // What follows goes on behind the one that it names.
    await ask('And?', { conversationId, parentId: first.id });
    expect(shown()[1]?.[1]).toContain('Grüße');
  });

  it('streams, happens once under its key, and one at a time', async () => {
    const { conversationId, message } = await ask('Why?');
    const target = path(conversationId, message.id, 'regenerate');
    const { finish } = saysAndWaits('Because');
    const headers = { 'idempotency-key': 'regenerate-1' };
    const running = platform.call(conversationPath(target), { method: 'POST', body: { stream: true }, headers });
    await until(async () => (await messagesOf(conversationId))[0]?.status === 'streaming', 'the answer');
    const second = await send({}, { path: target });
    expect([second.status, second.body['code']]).toEqual([409, 'turn_in_progress']);
    finish();
    expect((await running).text).toContain('"type":"finish"');
    expect(await messagesOf(conversationId)).toHaveLength(3);
  });

  it('rejects what is no message, a model that is not allowed, and others', async () => {
    const { conversationId, message } = await ask('Why?');
    const other = await ask('Another.');
    const stranger = await platform.newCaller({ role: 'admin' });
    const target = path(conversationId, message.id, 'regenerate');
    for (const [answer, code] of [
      [await send({}, { path: path(conversationId, UNKNOWN, 'regenerate') }), 'not_found'],
      [await send({}, { path: path(conversationId, other.message.id, 'regenerate') }), 'not_found'],
      [await send({}, { path: target, key: stranger.key }), 'not_found'],
      [await send({ model: 'local-chat-that-is-not' }, { path: target }), 'model_not_available'],
      [await send({ temperature: 1 }, { path: target }), 'unknown_field'],
    ] as const)
      expect(answer.body['code']).toBe(code);
    expect(await messagesOf(conversationId)).toHaveLength(2);
  });

  it('does not bring back a question that was deleted', async () => {
    const { conversationId, message } = await ask('Why?');
    await remove(conversationId, message.parentId ?? '');
    const again = await send({}, { path: path(conversationId, message.id, 'regenerate') });
    expect([again.status, again.body['code']]).toEqual([404, 'not_found']);
  });
});

describe('feedback', () => {
  const rate = (conversationId: string, messageId: string, body: object, key?: string) =>
    send<Record<string, unknown>>(body, {
      path: path(conversationId, messageId, 'feedback'),
      ...(key === undefined ? {} : { key }),
    });

  it('is kept with the answer, changed, and taken back', async () => {
    const { conversationId, message } = await ask('Why?');
    expect(message).toMatchObject({ feedback: null });
    for (const [given, kept] of [
      [
        { rating: 'down', comment: 'Too short.' },
        { rating: 'down', comment: 'Too short.' },
      ],
      [{ rating: 'up' }, { rating: 'up', comment: null }],
      [{ rating: null }, null],
    ] as const) {
      const answer = await rate(conversationId, message.id, given);
      expect([answer.status, answer.body['feedback']]).toEqual([200, kept]);
      expect((await messagesOf(conversationId))[0]).toMatchObject({ feedback: kept });
    }
  });

  it('is erased with its message', async () => {
    const { conversationId, message } = await ask('Why?');
    await rate(conversationId, message.id, { rating: 'down', comment: 'Wexholmberg' });
    expect(onDisk('Wexholmberg')).toEqual(['Wexholmberg']);
    await remove(conversationId, message.id);
    await erased(`conversation-${conversationId}/${message.id}`);
    expect(onDisk('Wexholmberg')).toEqual([]);
  });

  it('is of answers alone, and of nobody else', async () => {
    const { conversationId, message } = await ask('Why?');
    const stranger = await platform.newCaller({ role: 'admin' });
    const up = { rating: 'up' };
    for (const answer of [
      await rate(conversationId, message.parentId ?? '', up),
      await rate(conversationId, UNKNOWN, up),
      await rate(UNKNOWN, message.id, up),
      await rate(conversationId, message.id, up, stranger.key),
    ])
      expect([answer.status, answer.body['code']]).toEqual([404, 'not_found']);
    for (const body of [{}, { rating: 'sideways' }, { rating: 'up', comment: 'x'.repeat(2_001) }])
      expect((await rate(conversationId, message.id, body)).status).toBe(400);
    expect((await messagesOf(conversationId))[0]).toMatchObject({ feedback: null });
  });
});

test('a conversation that goes on is of its own kind', async () => {
  const { conversationId } = await ask('Why?', { kind: 'private' });
  const other = await send({ conversationId, message: 'And?', kind: 'normal' });
  expect([other.status, other.body['code']]).toEqual([409, 'conflict']);
  for (const kind of ['private', undefined]) await ask('And?', { conversationId, ...(kind && { kind }) });
});

test('a first question that fails names its conversation, where the failure is an answer to be made once more', async () => {
  upstream.behaviour = (response) => json(response, 400, { error: { message: 'no' } });
  const failed = await send<{ conversationId: string; messageId: string; code: string }>({ message: 'Why?' });
  expect(failed.status).toBeGreaterThanOrEqual(400);
  const { conversationId, messageId } = failed.body;
  expect(await messagesOf(conversationId)).toMatchObject([{ id: messageId, status: 'failed' }, { role: 'user' }]);
  upstream.behaviour = says('Because.');
  const again = await send({}, { path: path(conversationId, messageId, 'regenerate') });
  expect(again.body.message).toMatchObject({ status: 'complete' });
});

test('a question that is asked by the session of a page comes from the web', async () => {
  const { key } = await platform.newCaller({ role: 'admin' });
  const own = await platform.call<{ id: string }>('/api/v1/core/agents', {
    method: 'POST',
    key,
    body: { name: 'Mine' },
  });
  const headers = { host: 'localhost', origin: 'http://localhost', 'sec-fetch-site': 'same-origin' };
  const session = await platform.call('/api/v1/session', {
    method: 'POST',
    key: null,
    headers,
    body: { apiKey: key },
  });
  expect([session.status, session.text]).toEqual([201, session.text]);
  const cookie = String(session.headers['set-cookie']).split(';')[0] ?? '';
  const asked = await platform.call<{ message: object }>(`/api/v1/core/llm/${own.body.id}/conversation`, {
    method: 'POST',
    key: null,
    headers: { ...headers, cookie },
    body: { message: 'Why?' },
  });
  expect([asked.status, agentId === own.body.id]).toEqual([200, false]);
  expect(asked.body.message).toMatchObject({ channel: 'web' });
});
