import { after, answer, ask, decide, evolve, participants } from '../../../../test/fixtures/conversation-commands';
import type { ConversationCommand } from './conversation.commands';
import { conversationDecider } from './conversation.decider';

const again = (messageId: string): ConversationCommand => ({
  type: 'Regenerate',
  ...participants,
  messageId,
  answerId: 'a9',
  channel: 'api',
});
const without = (messageId: string): ConversationCommand => ({ type: 'DeleteMessage', ...participants, messageId });

describe('a question', () => {
  it('does not begin a conversation behind a message', () =>
    expect(() => decide(ask(1, { parentId: 'm0' }))).toThrow('not_found'));

  it('goes on with a conversation of its kind, and need not name the kind', () => {
    const { kind: _, ...unnamed } = ask(2);
    for (const same of [ask(2), unnamed]) expect(decide(same, ask(1), answer(1))).toHaveLength(1);
    expect(() => decide(ask(2, { kind: 'incognito' as 'normal' }), ask(1), answer(1))).toThrow('conflict');
  });
});

describe('one more answer', () => {
  it('is not made to an answer whose question is gone, whatever it is below then', () => {
    const turns = [ask(1), answer(1), ask(2), answer(2)] as const;
    for (const known of ['m2', 'a2'])
      expect(decide(again(known), ...turns)).toMatchObject([{ data: { messageId: 'm2' } }]);
    expect(() => decide(again('a2'), ...turns, without('m2'))).toThrow('not_found');
    expect(() => decide(again('a1'), ...turns, without('m1'))).toThrow('not_found');
    expect(() => decide(again('unknown'), ...turns)).toThrow('not_found');
  });
});

describe('a conversation', () => {
  it('is archived, and taken back, once', () => {
    const archived = (isArchived: boolean) => ({ type: 'Update', ...participants, archived: isArchived }) as const;
    expect(decide(archived(true), ask(1))).toEqual([{ type: 'ConversationArchived', data: {} }]);
    expect(decide(archived(true), ask(1), archived(true))).toEqual([]);
    expect(decide(archived(false), ask(1), archived(true))).toEqual([{ type: 'ConversationUnarchived', data: {} }]);
    expect(decide(archived(false), ask(1))).toEqual([]);
  });

  it('has its title from its first question, also where an earlier release did not say so', () => {
    const [started, ...asked] = conversationDecider.decide(ask(1), conversationDecider.initial);
    if (started?.type !== 'ConversationStarted') throw new Error('it did not start');
    const { messageId: _, ...data } = started.data;
    const earlier = [{ ...started, data: { ...data, messageId: null } } as typeof started, ...asked];
    const begun = earlier.reduce((state, event) => evolve(state, event), conversationDecider.initial);
    expect(begun).toMatchObject({ titleOf: 'm1' });
    const onlyLater = [answer(1), without('a1'), without('m1'), ask(2)] as const;
    const emptied = onlyLater.reduce(
      (state, command) =>
        conversationDecider.decide(command, state).reduce((next, event) => evolve(next, event), state),
      begun,
    );
    expect(emptied).toMatchObject({ titleOf: null });
    const renamed = after(ask(1), { type: 'Update', ...participants, title: 'Mine' }, answer(1), ask(2));
    expect(renamed).toMatchObject({ titleOf: null });
  });
});
