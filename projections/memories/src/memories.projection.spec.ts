import { ERASED } from '@app/kernel';
import { EVERYBODY, type MemoryEvent } from '@app/memory';
import { at, happened, rowsAfter } from '../../../test/fixtures/view';
import { memories } from './memories.projection';

const event = (revision: number, given: MemoryEvent) => happened('memory-m1', revision, given);
const made = {
  memoryId: 'm1',
  agentId: 'a1',
  spaceId: 's1',
  userId: 'u1',
  text: 'Tea is in the kitchen',
  hash: 'h',
  origin: 'agent',
  source: { conversationId: '01900000-0000-7000-8000-0000000000c1', messageId: '01900000-0000-7000-8000-0000000000e1' },
  replaces: 'm0',
  screening: { version: '1' },
} as const;
const expiresAt = '2026-12-01T00:00:00.000Z';
const place = { agentId: 'a1', userId: 'u1', kind: 'shared' } as const;
const proposed = event(0, { type: 'MemoryProposed', data: { ...made, kind: 'shared', expiresAt } });
const row = {
  id: 'm1',
  agentId: 'a1',
  spaceId: 's1',
  userId: 'u1',
  audience: 'u1',
  kind: 'shared',
  status: 'proposed',
  text: made.text,
  hash: 'h',
  origin: 'agent',
  source: made.source,
  conversationId: '01900000-0000-7000-8000-0000000000c1',
  replaces: 'm0',
  screening: { version: '1' },
  expiresAt,
  createdAt: at(0),
  updatedAt: at(0),
  revision: 0,
};
const saved = {
  status: 'saved',
  expiresAt: null,
  replaces: null,
  screening: { version: '2' },
  updatedAt: at(1),
  revision: 1,
};
const screening = { version: '2' };

test('the view of memories follows them, and shows a shared one to all once it is confirmed', () => {
  expect(rowsAfter(memories, proposed)).toEqual({ m1: row });
  const confirmed = event(1, { type: 'MemoryConfirmed', data: { agentId: 'a1', kind: 'shared', screening } });
  expect(rowsAfter(memories, proposed, confirmed)).toEqual({ m1: { ...row, ...saved, audience: EVERYBODY } });
  const mine = event(1, { type: 'MemorySavedForMe', data: { agentId: 'a1', hash: 'mine', screening } });
  expect(rowsAfter(memories, proposed, mine)).toEqual({ m1: { ...row, ...saved, kind: 'personal', hash: 'mine' } });
  const edited = event(2, { type: 'MemoryEdited', data: { text: 'Out', hash: 'h2', screening } });
  expect(rowsAfter(memories, proposed, confirmed, edited)).toMatchObject({ m1: { text: 'Out', hash: 'h2' } });
  expect(
    rowsAfter(memories, event(0, { type: 'MemorySaved', data: { ...made, kind: 'personal', text: ERASED } })),
  ).toMatchObject({ m1: { text: ERASED, status: 'saved', audience: 'u1', expiresAt: null, replaces: null } });
});

test.each<[string, MemoryEvent]>([
  ['is discarded', { type: 'MemoryDiscarded', data: { ...place, reason: 'lapsed' } }],
  ['is deleted', { type: 'MemoryDeleted', data: place }],
  ['is flagged', { type: 'MemoryFlagged', data: { ...place, during: 'choice', hash: 'f', rules: [], version: '2' } }],
])('nothing is left of one that %s', (_, ended) => {
  expect(rowsAfter(memories, proposed, event(1, ended))).toEqual({});
});

test('a memory stays as it is where an edit was flagged, but for its revision', () => {
  const flagged: MemoryEvent = {
    type: 'MemoryFlagged',
    data: { ...place, during: 'edit', hash: 'f', rules: [], version: '2' },
  };
  expect(rowsAfter(memories, proposed, event(1, flagged))).toEqual({ m1: { ...row, revision: 1 } });
});

test('a memory whose edit was abandoned is shown at its revision', () => {
  const abandoned = event(2, { type: 'MemoryEditAbandoned', data: { ticket: 't1' } });
  const confirmed = event(1, { type: 'MemoryConfirmed', data: { agentId: 'a1', kind: 'shared', screening } });
  expect(rowsAfter(memories, proposed, confirmed, abandoned)).toEqual({
    m1: { ...rowsAfter(memories, proposed, confirmed)['m1'], revision: 2 },
  });
});
