import { type RecordedEvent, systemClock } from '@app/kernel';
import { decisionsInMemory, ids, meta } from '../../../../test/fixtures/decisions-in-memory';
import type { MemoriesOwner } from '../lookups';
import type { Forgetting } from '../memory/forgetting';
import { type MemoryCommand, memoryDecider } from '../memory/memory.decider';
import { memoryEvents } from '../memory/memory.events';
import { DeleteMemoriesOfTheDeleted } from './delete-memories.policy';

const screening = { version: '1' };

/**
 * A proposal, what its user made of it, and the policy that meets the first event of it late: when something of it is deleted. `isLate`: it was made
 * only when its conversation was deleted.
 */
const setUp = async (choices: readonly MemoryCommand[] = [], isLate = false) => {
  const { log, codec, decisions } = decisionsInMemory(memoryEvents);
  const deleted: string[] = [];
  const found: string[] = [];
  const asked: MemoriesOwner[] = [];
  const forgetting = { deleteAll: async (memoryIds: readonly string[]) => void deleted.push(...memoryIds) };
  const policy = new DeleteMemoriesOfTheDeleted(
    decisions,
    // Of it only what the policy calls is there.
    forgetting as unknown as Forgetting,
    log,
    systemClock,
    async (owner) => {
      asked.push(owner);
      return found;
    },
  );
  const [memoryId, agentId, spaceId, userId] = [ids.next(), ids.next(), ids.next(), ids.next()];
  const [conversationId, messageId] = [ids.next(), ids.next()];
  const decide = (command: MemoryCommand) => {
    return decisions.transact(memoryDecider, memoryId, command, meta());
  };
  const memory = {
    memoryId,
    agentId,
    spaceId,
    userId,
    kind: 'shared',
    text: 'Tea is in the kitchen',
    hash: 'h',
    origin: 'user',
    source: { conversationId, messageId },
    replaces: null,
    screening,
  } as const;
  const end = (stream: string, type: string) =>
    log.append(stream, [{ id: ids.next(), type, data: '{}', metadata: '{}' }], 'any');
  if (isLate) await end(`conversation-${conversationId}`, 'ConversationDeleted');
  await decide({ type: 'Propose', memory, expiresAt: '2030-01-01T00:00:00.000Z' });
  for (const choice of choices) await decide(choice);
  const [proposed] = await codec.decode(await log.readStream(`memory-${memoryId}`));
  const meetLate = async (stream: 'agent' | 'space' | 'user' | 'conversation', type: string) => {
    const id = { agent: agentId, space: spaceId, user: userId, conversation: conversationId }[stream];
    if (!isLate) await end(`${stream}-${id}`, type);
    await policy.react(proposed as RecordedEvent);
    return deleted.length;
  };
  /** The end of its user, of whom another memory cannot be read. */
  const meetUser = async () => {
    const unread = ids.next();
    found.push(unread, memoryId);
    const load = decisions.load.bind(decisions);
    jest.spyOn(decisions, 'load').mockImplementation((decider, id) => {
      if (id === unread) throw new Error('it cannot be read');
      return load(decider, id);
    });
    const ended = { ...proposed, type: 'UserDeleted', data: {} } as RecordedEvent;
    await expect(policy.react(ended)).rejects.toThrow('it cannot be read');
    return deleted.map((id) => id === memoryId);
  };
  /** The end of its conversation, with the memories of a user where one wanted that. */
  const meetConversation = async (memoriesOf?: 'its user' | 'another') => {
    found.push(memoryId);
    const given = memoriesOf === undefined ? {} : { memoriesOf: memoriesOf === 'another' ? ids.next() : userId };
    const stream = `conversation-${conversationId}`;
    const context = { ...(proposed as RecordedEvent).context, stream };
    await policy.react({ ...proposed, type: 'ConversationDeleted', data: given, context } as RecordedEvent);
    return { asked, deleted: deleted.length, conversationId };
  };
  return { meetLate, meetUser, meetConversation, types: policy.types };
};

const CONFIRM: MemoryCommand = { type: 'Confirm', screening };
const SAVE_FOR_ME: MemoryCommand = { type: 'SaveForMe', hash: 'mine', screening };

it.each<readonly [title: string, choices: readonly MemoryCommand[], deleted: number]>([
  ['a shared one that is saved outlives who proposed it', [CONFIRM], 0],
  ['a personal one goes with its user', [SAVE_FOR_ME], 1],
  ['a proposal goes with its user', [], 1],
])('where the event of a memory is met after its user was deleted, %s', async (_, choices, deleted) => {
  const { meetLate } = await setUp(choices);
  expect(await meetLate('user', 'UserDeleted')).toBe(deleted);
});

it.each([
  ['agent', 'AgentDeleted'],
  ['space', 'SpaceDeleted'],
] as const)('a shared one that is met late goes with its %s', async (stream, type) => {
  const { meetLate } = await setUp([CONFIRM]);
  expect(await meetLate(stream, type)).toBe(1);
});

it.each([
  ['stays where it was there before its conversation was deleted', false, 0],
  ['goes where an answer made it behind the deletion of its conversation', true, 1],
] as const)('a memory %s', async (_, isLate, deleted) => {
  const { meetLate } = await setUp([], isLate);
  expect(await meetLate('conversation', 'ConversationDeleted')).toBe(deleted);
});

describe('where a conversation is deleted, a memory that was there before', () => {
  it.each<readonly [title: string, choices: readonly MemoryCommand[]]>([
    ['that waits', []],
    ['that is shared', [CONFIRM]],
    ['that is personal', [SAVE_FOR_ME]],
  ])('goes where its user wanted that: one %s', async (_, choices) => {
    const { meetConversation, types } = await setUp(choices);
    const { asked, deleted, conversationId } = await meetConversation('its user');
    expect([types.includes('ConversationDeleted'), asked, deleted]).toEqual([true, [{ conversationId }], 1]);
  });

  it.each([
    ['where nobody wanted that', undefined],
    ['where another user did', 'another'],
  ] as const)('stays %s', async (_, memoriesOf) => {
    const { meetConversation } = await setUp([CONFIRM]);
    expect((await meetConversation(memoriesOf)).deleted).toBe(0);
  });
});

it('where one memory of a deleted user cannot be read, the others are deleted', async () => {
  const { meetUser } = await setUp();
  expect(await meetUser()).toEqual([true]);
});
