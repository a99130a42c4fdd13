import { EventCatalogue, EventCodec, type Keyring, type ReadStreamOptions, TimeOrderedIds } from '@app/kernel';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { conversationEvents } from '../conversation/conversation.events';
import { History } from './history';

const ids = new TimeOrderedIds();
const MESSAGES = 2_000;
const CONVERSATION = ids.next();
const key = Buffer.alloc(32, 1);
const keyring: Keyring = {
  ensureKey: async () => key,
  keys: async (streams) => new Map(streams.map((stream) => [stream, key])),
};
const codec = new EventCodec(new EventCatalogue(conversationEvents), keyring);

/** Counts what is read. */
class CountingLog extends MemoryLog {
  read = 0;

  override async readStream(stream: string, options?: ReadStreamOptions) {
    const events = await super.readStream(stream, options);
    this.read += events.length;
    return events;
  }
}

const messageIds = Array.from({ length: MESSAGES }, () => ids.next());
const log = new CountingLog();
const history = new History(log, codec);
const text = (index: number): string => `Message ${index}.`;

beforeAll(async () => {
  const start = {
    type: 'ConversationStarted',
    data: {
      conversationId: CONVERSATION,
      agentId: CONVERSATION,
      spaceId: CONVERSATION,
      userId: CONVERSATION,
      kind: 'normal',
      title: 'T',
    },
  };
  const messages = messageIds.map((messageId, index) => {
    const common = {
      conversationId: CONVERSATION,
      messageId,
      parentId: messageIds[index - 1] ?? null,
      parts: [{ type: 'text', text: text(index) }],
    };
    return index % 2 === 0
      ? { type: 'UserMessageAdded', data: { ...common, answerId: messageIds[index + 1] as string, channel: 'api' } }
      : {
          type: 'AssistantMessageAdded',
          data: { ...common, status: 'complete', finishReason: 'stop', model: 'm', usage: null },
        };
  });
  await log.append(
    `conversation-${CONVERSATION}`,
    await codec.encode(
      `conversation-${CONVERSATION}`,
      [start, ...messages],
      { commandId: ids.next(), correlationId: ids.next(), actor: 'user:1', now: new Date() },
      {},
    ),
    'noStream',
  );
});

beforeEach(() => (log.read = 0));

describe('the history of a long conversation', () => {
  it('is read no further back than a model is shown', async () => {
    const branch = await history.branch(CONVERSATION, messageIds.at(-1) as string);
    expect(branch.map((message) => message.text)).toEqual(
      Array.from({ length: 50 }, (_, index) => text(MESSAGES - 50 + index)),
    );
    expect(branch.at(-1)?.role).toBe('assistant');
    expect(log.read).toBeLessThanOrEqual(80);
  });

  it('goes on from any message, to the first one', async () => {
    expect((await history.branch(CONVERSATION, messageIds[5] as string)).map((message) => message.text)).toEqual(
      [0, 1, 2, 3, 4, 5].map(text),
    );
    expect(await history.branch(CONVERSATION, ids.next())).toEqual([]);
  });

  it('gives an answer, and nothing for the id of a question or of nothing', async () => {
    expect((await history.answer(CONVERSATION, messageIds.at(-1) as string))?.data.messageId).toBe(messageIds.at(-1));
    expect(log.read).toBeLessThanOrEqual(16);
    expect(await history.answer(CONVERSATION, messageIds[0] as string)).toBeUndefined();
    expect(await history.answer(CONVERSATION, ids.next())).toBeUndefined();
    expect(await history.answer(ids.next(), ids.next())).toBeUndefined();
  });
});
