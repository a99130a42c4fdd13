import {
  Decisions,
  EventCatalogue,
  EventCodec,
  type Keyring,
  type ReadStreamOptions,
  TimeOrderedIds,
} from '@app/kernel';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { conversationDecider, type LiveConversation } from '../conversation/conversation.decider';
import { conversationEvents } from '../conversation/conversation.events';
import { textOf } from '../conversation/message-parts';
import { History } from './history';

const ids = new TimeOrderedIds();
const MESSAGES = 2_000;
const FIRST_COUNTED = 10;
const CONVERSATION = ids.next();
const key = Buffer.alloc(32, 1);
const keyring: Keyring = {
  ensureKey: async () => key,
  keys: async (streams) => new Map(streams.map((stream) => [stream, key])),
};
const codec = new EventCodec(new EventCatalogue(conversationEvents), keyring);

/** Counts what is read, and how often. */
class CountingLog extends MemoryLog {
  read = 0;
  reads = 0;

  override async readStream(stream: string, options?: ReadStreamOptions) {
    const events = await super.readStream(stream, options);
    this.read += events.length;
    this.reads += 1;
    return events;
  }
}

const messageIds = Array.from({ length: MESSAGES }, () => ids.next());
const log = new CountingLog();
const decisions = new Decisions(log, codec);
const history = new History(log, codec, decisions);
const conversation = async () => (await decisions.load(conversationDecider, CONVERSATION)).state as LiveConversation;
/** So many messages of the branch that ends with one, oldest first. */
const branch = async (last: string, most = Infinity): Promise<readonly string[]> => {
  const newestFirst: string[] = [];
  for await (const { parts } of history.branch(await conversation(), last)) {
    newestFirst.push(textOf(parts));
    if (newestFirst.length === most) break;
  }
  return newestFirst.toReversed();
};
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
      messageId: messageIds[0] as string,
    },
  };
  const messages = messageIds.map((messageId, index) => {
    const common = {
      conversationId: CONVERSATION,
      messageId,
      parentId: messageIds[index - 1] ?? null,
      parts: [{ type: 'text', text: text(index) }],
      // Of earlier versions in the first messages.
      ...(index < FIRST_COUNTED ? {} : { tokens: 1_000 + index }),
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

beforeEach(async () => {
  await conversation();
  log.read = 0;
});

describe('the history of a long conversation', () => {
  it('is read no further back than somebody asks, and once', async () => {
    const newest = Array.from({ length: 50 }, (_, index) => text(MESSAGES - 50 + index));
    expect(await branch(messageIds.at(-1) as string, 50)).toEqual(newest);
    expect(log.read).toBeLessThanOrEqual(64);
    log.read = 0;
    expect(await branch(messageIds.at(-1) as string, 50)).toEqual(newest);
    expect(log.read).toBe(0);
  });

  it('is read far back in few steps', async () => {
    decisions.forget(`conversation-${CONVERSATION}`);
    await conversation();
    [log.read, log.reads] = [0, 0];
    expect(await branch(messageIds.at(-1) as string, 500)).toHaveLength(500);
    expect(log.reads).toBeLessThanOrEqual(8);
    expect(log.read).toBeLessThanOrEqual(640);
  });

  it('is read anew when it was forgotten', async () => {
    await branch(messageIds[5] as string);
    decisions.forget(`conversation-${CONVERSATION}/${messageIds[5]}`);
    await conversation();
    log.read = 0;
    await branch(messageIds[5] as string);
    expect(log.read).toBeGreaterThanOrEqual(6);
  });

  it('goes on from any message, to the first one', async () => {
    expect(await branch(messageIds[5] as string)).toEqual([0, 1, 2, 3, 4, 5].map(text));
    expect(await branch(ids.next())).toEqual([]);
  });

  it('has the tokens that were recorded with its messages, and counts those of the others', async () => {
    const tokens = async (index: number) =>
      (await history.message(CONVERSATION, messageIds[index] as string))?.tokens();
    expect(await tokens(FIRST_COUNTED)).toBe(1_000 + FIRST_COUNTED);
    expect(await tokens(FIRST_COUNTED + 1)).toBe(1_001 + FIRST_COUNTED);
    expect(await tokens(0)).toBe(8);
    const whole = await history.message(CONVERSATION, messageIds[FIRST_COUNTED] as string);
    expect(await whole?.after({ part: 0, offset: 7 }).tokens()).toBeLessThan(20);
  });

  it('gives an answer, and nothing for the id of a question or of nothing', async () => {
    expect((await history.answer(CONVERSATION, messageIds.at(-1) as string))?.data.messageId).toBe(messageIds.at(-1));
    expect(log.read).toBe(1);
    expect(await history.answer(CONVERSATION, messageIds[0] as string)).toBeUndefined();
    expect(await history.answer(CONVERSATION, ids.next())).toBeUndefined();
    expect(await history.answer(ids.next(), ids.next())).toBeUndefined();
  });
});

test('what a user said is looked for in the last 1,000 messages', async () => {
  const said = await history.saidByUser(CONVERSATION, messageIds.at(-1) as string);
  expect(said.map(textOf)).toEqual(Array.from({ length: 500 }, (_, index) => text(1_998 - 2 * index)));
  expect(await history.saidByUser(ids.next(), ids.next())).toEqual([]);
});

test('no page goes beyond a checkpoint', async () => {
  const state = await conversation();
  const boundary = { messageId: messageIds.at(-20) as string, part: 0, offset: 0 };
  const checkpoints = state.checkpoints.set('c', { checkpointId: 'c', boundary, place: 1 });
  decisions.forget(`conversation-${CONVERSATION}`);
  log.read = 0;
  let seen = 0;
  for await (const { messageId } of history.branch({ ...state, checkpoints }, messageIds.at(-1) as string)) {
    seen += 1;
    if (messageId === boundary.messageId) break;
  }
  expect([seen, log.read]).toEqual([20, 20]);
});
