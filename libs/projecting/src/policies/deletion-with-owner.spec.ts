import { type AnyEvent, defineEvent, type RecordedEvent, systemClock, TimeOrderedIds, Unavailable } from '@app/kernel';
import { z } from 'zod';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { DeletionWithOwner, type Owned } from './deletion-with-owner';

const ids = new TimeOrderedIds();
const noteAdded = defineEvent({
  type: 'NoteAdded',
  description: 'A note was added.',
  data: z.strictObject({ spaceId: z.string(), agentId: z.string().nullable() }),
});

/** Notes `n1` and `n2` are in the view of each Agent and Space, and `removed` are those that the policy deletes. */
const setUp = (remove: (id: string) => Promise<unknown> = async () => undefined) => {
  const log = new MemoryLog();
  const asked: string[][] = [];
  const removed: string[] = [];
  const found = (kind: string) => async (id: string, position: string) => {
    asked.push([kind, id, position]);
    return ['n1', 'n2'];
  };
  const owned: Owned = {
    with: { AgentDeleted: found('agent'), SpaceDeleted: found('space') },
    made: noteAdded,
    remove: async (id, { actor }) => {
      await remove(id);
      removed.push(`${id} by ${actor}`);
    },
  };
  const deletion = new DeletionWithOwner(log, systemClock);
  const happened = async (stream: string, type: string, data: object = {}): Promise<RecordedEvent> => {
    const [id, commandId] = [ids.next(), ids.next()];
    const { position } = await log.append(stream, [{ id, type, data: '{}', metadata: '{}' }], 'any');
    const context = { id, stream, revision: 0, position, recordedAt: '', actor: 'user:1' };
    return { type, data, context: { ...context, commandId, correlationId: commandId } } as RecordedEvent<AnyEvent>;
  };
  return { deletion, owned, policy: deletion.of('delete-notes', owned), happened, asked, removed };
};

it('handles the deletions of its owners, and what makes one', () => {
  expect(setUp().policy.types).toEqual(['AgentDeleted', 'SpaceDeleted', 'NoteAdded']);
});

it.each([
  ['AgentDeleted', 'agent'],
  ['SpaceDeleted', 'space'],
])('deletes on %s what the %s had up to then', async (type, category) => {
  const { policy, happened, asked, removed } = setUp();
  const event = await happened(`${category}-1`, type);
  await policy.react(event);
  expect(asked).toEqual([[category, '1', event.context.position]]);
  expect(removed).toEqual(['n1 by system:delete-notes', 'n2 by system:delete-notes']);
});

it.each([
  ['agent-1', 'AgentDeleted', { spaceId: '1', agentId: '1' }, true],
  ['space-1', 'SpaceDeleted', { spaceId: '1', agentId: '1' }, true],
  ['space-1', 'SpaceDeleted', { spaceId: '1', agentId: null }, true],
  ['space-1', 'SpaceRenamed', { spaceId: '1', agentId: '1' }, false],
  ['user-1', 'UserDeleted', { spaceId: '1', agentId: '1', userId: '1' }, false],
  ['agent-null', 'AgentDeleted', { spaceId: '1', agentId: null }, false],
])('deletes what is made where %s ended with %s: %j, %j', async (stream, type, data, isDeleted) => {
  const { policy, happened, removed } = setUp();
  await happened(stream, type);
  await policy.react(await happened('note-late', 'NoteAdded', data));
  expect(removed).toEqual(isDeleted ? ['late by system:delete-notes'] : []);
});

it('deletes the others where one cannot be deleted, unless a store is away', async () => {
  const failing = async (error: Error) => {
    const { policy, happened, removed } = setUp(async (id) => {
      if (id === 'n1') throw error;
    });
    await expect(policy.react(await happened('space-1', 'SpaceDeleted'))).rejects.toBe(error);
    return removed;
  };
  expect(await failing(new Error('it is broken'))).toEqual(['n2 by system:delete-notes']);
  expect(await failing(new Unavailable('log', 'away'))).toEqual([]);
});

it('is not made where what makes one does not name an owner', () => {
  const { deletion, owned } = setUp();
  expect(() => deletion.of('delete-notes', { ...owned, with: { UserDeleted: async () => [] } })).toThrow(
    'delete-notes deletes on UserDeleted, but NoteAdded has no field userId',
  );
});
