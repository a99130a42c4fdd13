import { conversationDecider } from '@app/conversations';
import { userDecider } from '@app/identity';
import { deriveId, type Uuid } from '@app/kernel';
import { documentDecider, tagRegistryDecider } from '@app/knowledge';
import { spaceDecider } from '@app/spaces';
import { adminsDecider } from '../../identity/src/admins/admins.decider';
import { limitRegisterDecider } from '../../spending/src/limits/limit-register.decider';
import { processorTime } from '../../../test/fixtures/processor-time';

const EVENTS = 20_000;
const ID = deriveId('01900000-0000-7000-8000-000000000001', 'x');
const id = (number: number): Uuid => `01900000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
const claim = (number: number) => ({ key: `key-${number}`, ticket: id(number) });

/** Only what these tests need of a decider: they say themselves what happened. */
interface Folding {
  readonly initial: unknown;
  readonly evolve: (state: never, event: never) => unknown;
}
type Happened = { readonly type: string; readonly data: object };
type Story = readonly [
  what: string,
  decider: Folding,
  first: readonly Happened[],
  then: (number: number) => Happened,
  end: (state: never) => unknown,
  expected: unknown,
];

const conversation = { conversationId: ID, agentId: ID, spaceId: ID, userId: ID, kind: 'normal', title: 'T' };
const space = { spaceId: ID, kind: 'team', ownerId: ID, name: 'S', slug: 's', description: '', color: '#000000' };
const document = {
  documentId: ID,
  scope: 'global',
  spaceId: null,
  agentId: null,
  name: 'd',
  mimeType: 'text/plain',
  sizeBytes: 1,
  contentHash: 'h',
  provider: 'inline',
  file: 'f',
  tagIds: [],
};

const STORIES: readonly Story[] = [
  [
    'tags of a Space',
    tagRegistryDecider,
    [],
    (n) => ({ type: 'TagCreated', data: { tagId: id(n), spaceId: ID, name: `Tag ${n}`, color: '#000000' } }),
    ({ tags }: { tags: { size: number } }) => tags.size,
    EVENTS,
  ],
  [
    'tags that were deleted',
    tagRegistryDecider,
    [],
    (n) => ({ type: 'TagDeleted', data: { tagId: id(n) } }),
    ({ deleted }: { deleted: { size: number } }) => deleted.size,
    EVENTS,
  ],
  [
    'messages of a conversation',
    conversationDecider,
    [{ type: 'ConversationStarted', data: conversation }],
    (n) => ({ type: 'UserMessageAdded', data: { messageId: id(n), parentId: null, answerId: id(n + EVENTS) } }),
    ({ parents }: { parents: { size: number } }) => parents.size,
    EVENTS,
  ],
  [
    'members of a Space',
    spaceDecider,
    [{ type: 'SpaceCreated', data: space }],
    (n) => ({ type: 'SpaceMemberAdded', data: { userId: id(n), role: 'viewer', memberCount: n } }),
    ({ members }: { members: { size: number } }) => members.size,
    EVENTS + 1,
  ],
  [
    'names that a Space gave up',
    spaceDecider,
    [{ type: 'SpaceCreated', data: space }],
    (n) => ({ type: 'SpaceChanged', data: { name: `S ${n}`, released: [claim(n)] } }),
    ({ forfeited }: { forfeited: { size: number } }) => forfeited.size,
    EVENTS,
  ],
  [
    'mail addresses that a user gave up',
    userDecider,
    [{ type: 'UserCreated', data: { userId: ID, role: 'member' } }],
    (n) => ({ type: 'UserChanged', data: { releasedMailClaim: claim(n) } }),
    ({ forfeited }: { forfeited: { size: number } }) => forfeited.size,
    EVENTS,
  ],
  [
    'admins that there were',
    adminsDecider,
    [],
    (n) => ({ type: 'AdminAppointed', data: { userId: id(n) } }),
    ({ size }: { size: number }) => size,
    EVENTS,
  ],
  [
    'spend limits',
    limitRegisterDecider,
    [],
    (n) => ({ type: 'SpendLimitSet', data: { limitId: id(n), scope: { type: 'user', id: id(n) }, amount: '1' } }),
    ({ byId }: { byId: { size: number } }) => byId.size,
    EVENTS,
  ],
  [
    'contents of a document that were never served',
    documentDecider,
    [{ type: 'DocumentAdded', data: document }],
    (n) => ({
      type: 'DocumentContentReplaced',
      data: { mimeType: 'text/plain', sizeBytes: 1, contentHash: 'h', file: `f${n}` },
    }),
    ({ superseded }: { superseded: Iterable<string> }) => [...superseded].length,
    EVENTS,
  ],
];

it.each(STORIES)('%s are folded in time that grows with their number', (_, decider, first, then, end, expected) => {
  const events = [...first, ...Array.from({ length: EVENTS }, (_unused, number) => then(number))];
  const spent = processorTime();
  let state = decider.initial;
  // `Folding` takes no event and no state: each story gives its decider those that it knows.
  events.forEach(
    (event, revision) =>
      (state = decider.evolve(
        state as never,
        { ...event, context: { revision, actor: 'user:u', recordedAt: '2026-01-01T00:00:00.000Z' } } as never,
      )),
  );
  expect(spent()).toBeLessThan(4_000);
  expect(end(state as never)).toBe(expected);
});

it('a tag is found by its name however many there are', () => {
  let state = tagRegistryDecider.initial;
  const spent = processorTime();
  for (let number = 0; number < EVENTS; number += 1) {
    const [event] = tagRegistryDecider.decide(
      { type: 'Create', tagId: id(number), spaceId: ID, name: `Tag ${number}`, color: '#000000' },
      state,
    );
    // Of the context, a registry looks at the revision alone.
    state = tagRegistryDecider.evolve(state, { ...event, context: { revision: number } } as never);
  }
  expect(spent()).toBeLessThan(4_000);
  expect(() =>
    tagRegistryDecider.decide({ type: 'Create', tagId: ID, spaceId: ID, name: 'TAG 5', color: '#000000' }, state),
  ).toThrow('name_taken');
});
