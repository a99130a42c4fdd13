import { Decisions, EventCatalogue, EventCodec, type Keyring } from '@app/kernel';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { ids, meta, PARTICIPANTS } from '../../../../test/fixtures/scripted-turns';
import type { ConversationEvent } from '../conversation/conversation.events';
import { conversationEvents } from '../conversation/conversation.events';
import { History } from './history';

const CONVERSATION = ids.next();
const STREAM = `conversation-${CONVERSATION}`;

/** A conversation of one message with so many checkpoints; `erased` is the index of one whose data key is gone, before its event says that it is deleted. */
const conversationWith = async (count: number, erased?: number) => {
  const messageId = ids.next();
  const checkpointIds = Array.from({ length: count }, () => ids.next());
  const key = Buffer.alloc(32, 1);
  const gone = erased === undefined ? '' : `${STREAM}/${checkpointIds[erased]}`;
  const keyring: Keyring = {
    ensureKey: async () => key,
    keys: async (names) => new Map(names.flatMap((name) => (name === gone ? [] : [[name, key]]))),
  };
  const [log, codec] = [new MemoryLog(), new EventCodec(new EventCatalogue(conversationEvents), keyring)];
  const common = { conversationId: CONVERSATION, messageId };
  const events: readonly ConversationEvent[] = [
    {
      type: 'ConversationStarted',
      data: { ...common, ...PARTICIPANTS, spaceId: ids.next(), kind: 'normal', title: 'T' },
    },
    {
      type: 'UserMessageAdded',
      data: { ...common, parentId: null, parts: [{ type: 'text', text: 'Hi' }], answerId: ids.next(), channel: 'api' },
    },
    ...checkpointIds.map((checkpointId, index): ConversationEvent => ({
      type: 'ConversationCompacted',
      data: {
        conversationId: CONVERSATION,
        checkpointId,
        previousId: null,
        boundary: { messageId, part: 0, offset: index },
        summary: `Summary ${index}.`,
        tokensBefore: 2,
        tokensAfter: 1,
        model: 'm',
        invocations: [],
      },
    })),
  ];
  await log.append(STREAM, await codec.encode(STREAM, events, meta(), {}), 'noStream');
  return { history: new History(log, codec, new Decisions(log, codec)), checkpointIds };
};

describe('the checkpoints of a conversation', () => {
  it('are without one whose summary is erased, also before the log says that it is deleted', async () => {
    const { history, checkpointIds } = await conversationWith(3, 1);
    const [first = '', erased = '', last = ''] = checkpointIds;
    expect((await history.checkpointsOf(CONVERSATION)).map(({ data }) => data.checkpointId)).toEqual([last, first]);
    expect(await history.checkpoint(CONVERSATION, erased)).toBeUndefined();
    expect((await history.checkpoint(CONVERSATION, first))?.data.summary).toBe('Summary 0.');
  });

  it('are listed newest first, no more than 200', async () => {
    const { history } = await conversationWith(201);
    const listed = await history.checkpointsOf(CONVERSATION);
    expect(listed.map(({ data }) => data.summary)).toEqual(
      Array.from({ length: 200 }, (_, index) => `Summary ${200 - index}.`),
    );
  });
});
