import fc from 'fast-check';
import type { RecordedEvent } from '@app/kernel';
import {
  type Answer,
  type Ask,
  type ConversationCommand,
  conversationDecider,
  type ConversationState,
} from './conversation.decider';
import type { ConversationEvent } from './conversation.events';

const party = { userId: '01900000-0000-7000-8000-000000000001', agentId: '01900000-0000-7000-8000-000000000002' };
const ask = (number: number, given: Partial<Ask> = {}): Ask => ({
  type: 'Ask',
  create: number === 1,
  ...party,
  conversationId: 'c',
  spaceId: 's',
  kind: 'normal',
  title: 'Title',
  messageId: `m${number}`,
  answerId: `a${number}`,
  parts: [{ type: 'text', text: 'Hello' }],
  channel: 'api',
  ...given,
});
const answer = (number: number): Answer => ({
  type: 'Answer',
  answerId: `a${number}`,
  parts: [],
  status: 'complete',
  finishReason: 'stop',
  model: 'local-chat',
  usage: null,
});

const evolve = (state: ConversationState, event: ConversationEvent): ConversationState =>
  conversationDecider.evolve(state, event as RecordedEvent<ConversationEvent>);
const after = (...commands: readonly ConversationCommand[]): ConversationState =>
  commands.reduce(
    (state, command) => conversationDecider.decide(command, state).reduce(evolve, state),
    conversationDecider.initial,
  );
const decide = (command: ConversationCommand, ...before: readonly ConversationCommand[]) =>
  conversationDecider.decide(command, after(...before));

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
  it('has one turn at a time', () => expect(() => decide(ask(2), ask(1))).toThrow('turn_in_progress'));
  it('takes the answer that is waited for, once', () => {
    expect(decide(answer(1), ask(1))).toMatchObject([{ data: { messageId: 'a1', parentId: 'm1' } }]);
    for (const late of [answer(1), answer(2)]) expect(decide(late, ask(1), answer(1))).toEqual([]);
    expect(decide(answer(1), ask(1), { type: 'Remove' })).toEqual([]);
  });

  it('keeps what is said of the answer that is waited for, each piece in its place', () => {
    const more = (from: number, text: string, number = 1): ConversationCommand => ({
      type: 'Continue',
      answerId: `a${number}`,
      from,
      text,
    });
    const said = (...commands: readonly ConversationCommand[]) => {
      const state = after(ask(1), ...commands);
      return state.status === 'Live' ? state.open?.said : undefined;
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
      { type: 'Update', ...party, ...other, title: 'x' },
      { type: 'Delete', ...party, ...other },
    ] as const) {
      expect(() => decide(command, ask(1), answer(1))).toThrow('not_found');
    }
  });
  it('is unknown before it began and after its end', () => {
    expect(() => decide(ask(2))).toThrow('not_found');
    for (const command of [ask(2), ask(1), { type: 'Update', ...party, title: 'x' }] as const)
      expect(() => decide(command, ask(1), { type: 'Delete', ...party })).toThrow('not_found');
    expect(decide({ type: 'Delete', ...party }, ask(1), { type: 'Delete', ...party })).toEqual([]);
  });
});

it('deciding a command again after its events says nothing new', () => {
  const command = fc.oneof(
    fc.constantFrom<ConversationCommand>(answer(1), answer(2), { type: 'Remove' }, { type: 'Delete', ...party }),
    fc.record({
      type: fc.constant('Continue' as const),
      answerId: fc.constantFrom('a1', 'a2'),
      from: fc.nat(4),
      text: fc.constantFrom('a', 'bc'),
    }),
    fc
      .record({ type: fc.constant('Update' as const), title: fc.constantFrom('a', 'b'), archived: fc.boolean() })
      .map((update) => ({ ...update, ...party })),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 6 }), command, (before, asked) => {
      const step = (state: ConversationState, next: ConversationCommand): ConversationState =>
        state.status === 'Deleted' && next.type === 'Update'
          ? state
          : conversationDecider.decide(next, state).reduce(evolve, state);
      const state = before.reduce(step, after(ask(1)));
      if (state.status === 'Deleted' && asked.type === 'Update') return;
      expect(conversationDecider.decide(asked, step(state, asked))).toEqual([]);
    }),
  );
});
