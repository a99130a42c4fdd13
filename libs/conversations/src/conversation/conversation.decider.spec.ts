import fc from 'fast-check';
import { ERASED, type Json } from '@app/kernel';
import { after, answer, ask, decide, evolve, participants } from '../../../../test/fixtures/conversation-commands';
import type { Compact } from './checkpoints';
import type { ConversationCommand } from './conversation.commands';
import { conversationDecider, type ConversationState } from './conversation.decider';
import { textOf } from './message-parts';

describe('a conversation', () => {
  it('begins with the first question', () =>
    expect(decide(ask(1))).toMatchObject([
      { type: 'ConversationStarted' },
      { type: 'UserMessageAdded', data: { parentId: null, answerId: 'a1' } },
    ]));
  it('goes on under the last message, or under a named one', () => {
    expect(decide(ask(2), ask(1), answer(1))).toMatchObject([{ data: { messageId: 'm2', parentId: 'a1' } }]);
    expect(decide(ask(2, { parentId: 'm1' }), ask(1), answer(1))).toMatchObject([{ data: { parentId: 'm1' } }]);
    expect(() => decide(ask(2, { parentId: 'unknown' }), ask(1), answer(1))).toThrow('not_found');
  });
  it('has one turn at a time in a branch, and others beside it', () => {
    for (const parentId of [undefined, 'm1', 'a1'])
      expect(() => decide(ask(2, parentId === undefined ? {} : { parentId }), ask(1))).toThrow('turn_in_progress');
    const beside = ask(3, { parentId: 'a1' });
    expect(decide(beside, ask(1), answer(1), ask(2))).toMatchObject([{ data: { parentId: 'a1' } }]);
    expect(() => decide(ask(4, { parentId: 'm2' }), ask(1), answer(1), ask(2), beside)).toThrow('turn_in_progress');
    expect(decide(answer(2), ask(1), answer(1), ask(2), beside)).toMatchObject([{ data: { parentId: 'm2' } }]);
  });
  it('is not answered once more by an answer that is still under way', () => {
    const again: ConversationCommand = {
      type: 'Regenerate',
      ...participants,
      messageId: 'a1',
      answerId: 'a2',
      channel: 'api',
    };
    expect(() => decide(again, ask(1))).toThrow('turn_in_progress');
    expect(decide(again, ask(1), answer(1))).toMatchObject([{ type: 'AnswerRequested', data: { messageId: 'm1' } }]);
  });
  it('is titled once, from the question that it begins with, and never against its user', () => {
    const title = (messageId: string, text = 'Ferries'): ConversationCommand => ({
      type: 'Title',
      messageId,
      answerId: messageId.replace('m', 'a'),
      title: text,
    });
    const begun = [ask(1), answer(1)] as const;
    expect(decide(title('m1'), ...begun)).toEqual([
      { type: 'ConversationTitled', data: { title: 'Ferries', messageId: 'm1', answerId: 'a1' } },
    ]);
    const untitled: readonly (readonly ConversationCommand[])[] = [
      [...begun, title('m1', 'Another')],
      [...begun, { type: 'Update', ...participants, title: 'Mine' }],
      [...begun, title('m1'), { type: 'Update', ...participants, title: 'Mine' }],
      [...begun, { type: 'DeleteMessage', ...participants, messageId: 'm1' }],
      [...begun, { type: 'DeleteMessage', ...participants, messageId: 'a1' }],
      [...begun, { type: 'Remove' }],
    ];
    for (const before of untitled) expect(decide(title('m1'), ...before)).toEqual([]);
    expect(decide(title('m2'), ...begun, ask(2), answer(2))).toEqual([]);
    expect(decide({ type: 'Update', ...participants, title: 'Mine' }, ...begun, title('m1'))).toMatchObject([
      { type: 'ConversationRenamed', data: { title: 'Mine' } },
    ]);
    for (const messageId of ['m1', 'a1'])
      expect(decide({ type: 'DeleteMessage', ...participants, messageId }, ...begun, title('m1'))).toMatchObject([
        { type: 'ConversationTitled', data: { title: 'New conversation', messageId: null } },
        { type: 'MessageDeleted' },
      ]);
    const gone = { type: 'DeleteMessage', ...participants, messageId: 'a1' } as const;
    for (const before of [
      [...begun],
      [...begun, title('m1'), { type: 'Update', ...participants, title: 'Mine' } as const],
    ])
      expect(decide(gone, ...before)).toMatchObject([{ type: 'MessageDeleted' }]);
  });
  it('takes the answer that is waited for, once', () => {
    expect(decide(answer(1), ask(1))).toMatchObject([{ data: { messageId: 'a1', parentId: 'm1' } }]);
    for (const late of [answer(1), answer(2)]) expect(decide(late, ask(1), answer(1))).toEqual([]);
    expect(decide(answer(1), ask(1), { type: 'Remove' })).toEqual([]);
  });

  it('keeps what is said of the answer that is waited for, each piece in its place', () => {
    const more = (offset: number, text: string, number = 1): ConversationCommand => ({
      type: 'Continue',
      answerId: `a${number}`,
      part: 0,
      offset,
      parts: [{ type: 'text', text }],
    });
    const said = (...commands: readonly ConversationCommand[]) => {
      const state = after(ask(1), ...commands);
      return state.status === 'Live' ? textOf(state.open.get('a1')?.parts ?? []) : undefined;
    };
    expect(said(more(0, 'Half'), more(4, ' an'))).toBe('Half an');
    expect(said(more(0, 'Half'), more(4, ' an'), more(0, 'Anew'))).toBe('Anew');
    expect(decide(more(0, 'x', 2), ask(1))).toEqual([]);
    expect(decide(more(0, 'x'), ask(1), answer(1))).toEqual([]);
  });

  it.each([
    ['another user', { userId: '01900000-0000-7000-8000-00000000000f' }],
    ['another Agent', { agentId: '01900000-0000-7000-8000-00000000000f' }],
  ])('is unknown to %s', (_, other) => {
    for (const command of [
      ask(2, other),
      { type: 'Update', ...participants, ...other, title: 'x' },
      { type: 'Delete', ...participants, ...other },
      { type: 'DeleteMessage', ...participants, ...other, messageId: 'm1' },
    ] as const) {
      expect(() => decide(command, ask(1), answer(1))).toThrow('not_found');
    }
  });
  it('says when it is deleted whose memories go with it', () => {
    const deleted = (memories?: boolean) =>
      decide({ type: 'Delete', ...participants, ...(memories === undefined ? {} : { memories }) }, ask(1));
    expect(deleted(true)).toEqual([{ type: 'ConversationDeleted', data: { memoriesOf: participants.userId } }]);
    for (const none of [undefined, false]) expect(deleted(none)).toEqual([{ type: 'ConversationDeleted', data: {} }]);
  });
  it('is unknown before it began and after its end', () => {
    expect(() => decide(ask(2))).toThrow('not_found');
    for (const command of [ask(2), ask(1), { type: 'Update', ...participants, title: 'x' }] as const)
      expect(() => decide(command, ask(1), { type: 'Delete', ...participants })).toThrow('not_found');
    expect(decide({ type: 'Delete', ...participants }, ask(1), { type: 'Delete', ...participants })).toEqual([]);
  });
});

describe('a summary', () => {
  const compact = (number: number, messageId: string, given: Partial<Compact> = {}): Compact => ({
    type: 'Compact',
    checkpointId: `c${number}`,
    previousId: null,
    boundary: { messageId, part: 0, offset: 0 },
    messageIds: [],
    summary: 'Summary',
    tokensBefore: 2,
    tokensAfter: 1,
    model: 'local-chat',
    invocations: [],
    skillIds: [],
    ...given,
  });
  const turns = [ask(1), answer(1), ask(2), answer(2), ask(3, { parentId: 'a1' }), answer(3)] as const;

  it('is recorded once, and not where what it was made from is gone', () => {
    expect(decide(compact(1, 'a2'), ...turns)).toMatchObject([{ type: 'ConversationCompacted' }]);
    expect(decide(compact(1, 'a2'), ...turns, compact(1, 'a2'))).toEqual([]);
    expect(decide(compact(2, 'a2'), ...turns, compact(1, 'a2'))).toEqual([]);
    expect(decide(compact(1, 'unknown'), ...turns)).toEqual([]);
    expect(decide(compact(1, 'a2', { messageIds: ['unknown'] }), ...turns)).toEqual([]);
    expect(decide(compact(2, 'a2', { previousId: 'c1' }), ...turns)).toEqual([]);
    expect(decide(compact(1, 'a2'), ...turns, { type: 'Remove' })).toEqual([]);
  });

  it('goes with each message that it may hold, and with no other', () => {
    const gone = (messageId: string) =>
      decide({ type: 'RemoveMessage', messageId }, ...turns, compact(1, 'a2'), compact(2, 'a3')).flatMap((event) =>
        event.type === 'CheckpointDeleted' ? [event.data.checkpointId] : [],
      );
    expect([gone('m1'), gone('m2'), gone('a2'), gone('m3')]).toEqual([['c1', 'c2'], ['c1'], ['c1'], ['c2']]);
    const left = after(...turns, compact(1, 'a2'), { type: 'RemoveMessage', messageId: 'm2' });
    expect(left.status === 'Live' && left.checkpoints.size).toBe(0);
    expect(decide({ type: 'RemoveCheckpoint', checkpointId: 'c1' }, ...turns, compact(1, 'a2'))).toHaveLength(1);
    expect(decide({ type: 'RemoveCheckpoint', checkpointId: 'c1' }, ...turns)).toEqual([]);
  });
});

describe('a conversation in a snapshot', () => {
  const { snapshot } = conversationDecider;

  it('is what it was, but for its content', () => {
    const state = after(ask(1), answer(1), ask(2), answer(2), { type: 'Update', ...participants, archived: true });
    const saved = JSON.stringify(snapshot?.save(state));
    expect(saved).not.toMatch(/"Title"|Hello/);
    expect(snapshot?.restore(JSON.parse(saved) as Json)).toEqual({ ...state, title: ERASED });
    // Another set of fields is another version: see `conversationSnapshot`.
    expect([snapshot?.version, Object.keys(state).toSorted()]).toEqual([
      7,
      'agentId answers archived checkpoints conversationId deleted isTitled kind last open parents places spaceId status title titleOf titledFrom userId'.split(
        ' ',
      ),
    ]);
  });

  it('waits while an answer is made, whose words it would hold', () => {
    expect(snapshot?.save(after(ask(1)))).toBeUndefined();
    expect(snapshot?.save(after(ask(1), { type: 'Remove' }))).toBeUndefined();
  });
});

it('deciding a command again after its events says nothing new', () => {
  const command = fc.oneof(
    fc.constantFrom<ConversationCommand>(answer(1), answer(2), { type: 'Remove' }, { type: 'Delete', ...participants }),
    fc.record({ type: fc.constant('RemoveMessage' as const), messageId: fc.constantFrom('m1', 'a1', 'm2') }),
    fc.record({
      type: fc.constant('Continue' as const),
      answerId: fc.constantFrom('a1', 'a2'),
      part: fc.nat(2),
      offset: fc.nat(4),
      parts: fc.constantFrom(
        [{ type: 'text' as const, text: 'a' }],
        [
          { type: 'text' as const, text: 'bc' },
          { type: 'reasoning' as const, text: 'd' },
        ],
      ),
    }),
    fc
      .record({ type: fc.constant('Update' as const), title: fc.constantFrom('a', 'b'), archived: fc.boolean() })
      .map((update) => ({ ...update, ...participants })),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 6 }), command, (before, asked) => {
      const step = (state: ConversationState, next: ConversationCommand): ConversationState =>
        state.status === 'Deleted' && next.type === 'Update'
          ? state
          : conversationDecider.decide(next, state).reduce((sum, event) => evolve(sum, event), state);
      const state = before.reduce(step, after(ask(1)));
      if (state.status === 'Deleted' && asked.type === 'Update') return;
      expect(conversationDecider.decide(asked, step(state, asked))).toEqual([]);
    }),
  );
});
