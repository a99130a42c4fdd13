import { aggregates } from '@app/hosting';
import { systemClock } from '@app/kernel';
import { type Message, Relay } from '@app/relay';
import { MemoryLogger } from '../fixtures/counters';
import { until } from '../fixtures/until';
import { ADMIN_KEY } from './harness';
import {
  ask,
  conversationOf,
  conversationPath,
  platform,
  says,
  send,
  upstream,
  withConversations,
} from './conversations-world';

/** What leaves the product by itself goes through the relay: Apps do not exist yet, and nothing else tells others what happened. */

withConversations({}, { titleModel: 'other' });

/** Words of the user and of the model. */
const WORDS = ['zanderfilet', 'quittengelee', 'mirabellen'];

/** Does with a conversation of a kind what can be done with one, and deletes it. */
const lived = async (kind: 'normal' | 'private'): Promise<string> => {
  upstream.behaviour = says('Quittengelee.');
  const url = `data:text/plain;base64,${Buffer.from('Mirabellen.').toString('base64')}`;
  const parts = [
    { type: 'text', text: 'Zanderfilet?' },
    { type: 'file', mediaType: 'text/plain', filename: 'mirabellen.txt', url },
  ];
  const { conversationId: id, message } = (await send({ message: { parts }, kind })).body;
  await until(async () => (await conversationOf(id)).title === 'Quittengelee', 'the title');
  const path = conversationPath(`/${id}`);
  const of = `${path}/messages/${message.id}`;
  for (const [method, at, body] of [
    ['POST', `${of}/regenerate`, {}],
    ['POST', `${of}/feedback`, { rating: 'up', comment: 'Quittengelee!' }],
    ['POST', `${path}/compact`, undefined],
    ['PUT', path, { title: 'Zanderfilet', archived: true }],
    ['PUT', path, { archived: false }],
    ['DELETE', of, undefined],
  ] as const) {
    const done = await platform.call(at, { method, ...(body && { body }) });
    expect([at, done.status]).toEqual([at, method === 'DELETE' ? 204 : 200]);
  }
  await ask('Zanderfilet, once more?', { conversationId: id, stream: true });
  expect((await platform.call(path, { method: 'DELETE' })).status).toBe(204);
  return id;
};

/** What others are told of all that happened until now. */
const told = async (): Promise<readonly Message[]> => {
  const { log } = platform.platform.host.stores;
  const messages: Message[] = [];
  const publisher = {
    publish: async (some: readonly Message[]) => void messages.push(...some),
    health: async () => ({ ok: true }),
    close: async () => undefined,
  };
  const relay = new Relay({
    log,
    aggregates,
    publisher,
    clock: systemClock,
    logger: new MemoryLogger(),
    source: 'urn:test',
    topicPrefix: '',
  });
  const run = await relay.start(() => undefined);
  const last = await platform.newCaller();
  await until(() => messages.some(({ value }) => value.includes(last.userId)), 'all that came before');
  await run.stop();
  return messages;
};

it('others hear nothing of a private conversation, and of a normal one what happened, without a word of it', async () => {
  const [normal, hidden] = [await lived('normal'), await lived('private')];
  const messages = await told();
  const kinds = messages.flatMap(({ key, headers }) =>
    key === `conversation-${normal}` ? [String(headers['ce_type']).split('agent-platform.')[1]] : [],
  );
  expect(new Set(kinds)).toEqual(
    new Set([
      'conversation.created.v1',
      'conversation.answered.v1',
      'conversation.updated.v1',
      'conversation.archived.v1',
      'conversation.unarchived.v1',
      'conversation.message-deleted.v1',
      'conversation.deleted.v1',
    ]),
  );
  const text = JSON.stringify(messages).toLowerCase();
  expect([hidden, ...WORDS, ADMIN_KEY].filter((word) => text.includes(word))).toEqual([]);
});

it('nobody else lists, finds or reads a private conversation, an auditor without the permission for content neither', async () => {
  upstream.behaviour = says('Quittengelee.');
  const { conversationId: id } = await ask('Zanderfilet?', { kind: 'private' });
  const auditor = await platform.newCaller({ role: 'auditor', permissions: ['audit:read'] });
  const [admin, member] = [await platform.newCaller({ role: 'admin' }), await platform.newCaller()];
  for (const { key } of [admin, member, auditor])
    for (const at of ['', '?q=zanderfilet', `/${id}`, `/${id}/messages`, `/${id}/stream`, `/${id}/checkpoints`]) {
      const { status, text } = await platform.call(conversationPath(at), { key });
      expect([at, [403, 404].includes(status), text.toLowerCase().includes('zanderfilet')]).toEqual([at, true, false]);
    }
  const events = await platform.call(`/api/v1/audit/events?stream=conversation-${id}`, { key: auditor.key });
  expect([events.status, events.text.includes('UserMessageAdded')]).toEqual([200, true]);
  expect(WORDS.filter((word) => events.text.toLowerCase().includes(word))).toEqual([]);
});
