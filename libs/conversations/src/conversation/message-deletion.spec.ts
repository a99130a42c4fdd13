import { answer, ask, decide, evolve, participants } from '../../../../test/fixtures/conversation-commands';
import type { ConversationCommand } from './conversation.commands';
import { conversationDecider } from './conversation.decider';
import type { ConversationEvent } from './conversation.events';

describe('branches', () => {
  const again = (messageId: string, answerId: string): ConversationCommand => ({
    type: 'Regenerate',
    ...participants,
    messageId,
    answerId,
    channel: 'api',
  });

  it('begin with a question beside another, also with a first one', () => {
    const before = [ask(1), answer(1), ask(2), answer(2)];
    expect(decide(ask(3, { parentId: 'a1' }), ...before)).toMatchObject([{ data: { parentId: 'a1' } }]);
    expect(decide(ask(3, { parentId: null }), ...before)).toMatchObject([{ data: { parentId: null } }]);
  });
  it('begin with one more answer, by the id of the question or of an answer', () => {
    const requested = { type: 'AnswerRequested', data: { messageId: 'm1', answerId: 'b1', channel: 'api' } };
    for (const id of ['m1', 'a1']) expect(decide(again(id, 'b1'), ask(1), answer(1))).toMatchObject([requested]);
    const made = decide({ ...answer(1), answerId: 'b1' }, ask(1), answer(1), again('a1', 'b1'));
    expect(made).toMatchObject([{ data: { messageId: 'b1', parentId: 'm1', channel: 'api' } }]);
  });
  it('take one more answer at a time, and none to a question that is gone', () => {
    expect(() => decide(again('m1', 'b1'), ask(1))).toThrow('turn_in_progress');
    expect(() => decide(again('a1', 'c1'), ask(1), answer(1), again('a1', 'b1'))).toThrow('turn_in_progress');
    const removed = [ask(1), answer(1), { type: 'RemoveMessage', messageId: 'm1' }] as const;
    expect(() => decide(again('a1', 'b1'), ...removed)).toThrow('not_found');
    expect(() => decide(again('m9', 'b1'), ask(1), answer(1))).toThrow('not_found');
  });
  it('are all of one kind', () => {
    expect(() => decide(ask(2, { kind: 'private' }), ask(1), answer(1))).toThrow('conflict');
    expect(decide(ask(2, { kind: 'normal' }), ask(1), answer(1))).toHaveLength(1);
  });
});

it('takes feedback on answers alone', () => {
  const rated = (messageId: string, rest: object = {}): ConversationCommand => ({
    type: 'GiveFeedback',
    ...participants,
    messageId,
    rating: 'up',
    ...rest,
  });
  expect(decide(rated('a1', { comment: 'Good.' }), ask(1), answer(1))).toMatchObject([
    { type: 'FeedbackGiven', data: { messageId: 'a1', rating: 'up', comment: 'Good.' } },
  ]);
  expect(decide(rated('a1', { rating: null, comment: 'No.' }), ask(1), answer(1))[0]?.data).not.toHaveProperty(
    'comment',
  );
  for (const id of ['m1', 'm9']) expect(() => decide(rated(id), ask(1), answer(1))).toThrow('not_found');
});

describe('a message that is deleted', () => {
  const deletion = (messageId: string): ConversationCommand => ({ type: 'DeleteMessage', ...participants, messageId });

  it('leaves those below it to the one above it', () => {
    const before = [ask(1), answer(1), ask(2), answer(2)];
    expect(decide(deletion('a1'), ...before)).toEqual([
      { type: 'MessageDeleted', data: { conversationId: 'c', messageId: 'a1', parentId: 'm1', childIds: ['m2'] } },
    ]);
    // The chain is whole without it.
    expect(decide(deletion('m2'), ...before, deletion('a1'))).toMatchObject([
      { data: { messageId: 'm2', parentId: 'm1', childIds: ['a2'] } },
    ]);
  });

  it('is known no more: nothing follows it, and it cannot be deleted twice', () => {
    const before = [ask(1), answer(1), deletion('a1')];
    expect(decide(ask(2), ...before)).toMatchObject([{ data: { parentId: 'm1' } }]);
    expect(() => decide(ask(2, { parentId: 'a1' }), ...before)).toThrow('not_found');
    expect(decide(deletion('a1'), ...before)).toEqual([]);
    expect(decide({ type: 'RemoveMessage', messageId: 'a1' }, ...before)).toEqual([]);
    expect(decide(ask(2), ask(1), answer(1), deletion('a1'), deletion('m1'))).toMatchObject([
      { data: { parentId: null } },
    ]);
  });

  it('takes the title with it that was made from it, but not one that its user gave', () => {
    const untitled = { type: 'ConversationTitled', data: { title: 'New conversation', messageId: null } };
    expect(decide(deletion('m1'), ask(1), answer(1))).toMatchObject([untitled, { type: 'MessageDeleted' }]);
    expect(decide(deletion('m2'), ask(1), answer(1), ask(2), answer(2))).toMatchObject([{ type: 'MessageDeleted' }]);
    const renamed = [ask(1), answer(1), { type: 'Update', ...participants, title: 'Mine' }] as const;
    expect(decide(deletion('m1'), ...renamed)).toMatchObject([{ type: 'MessageDeleted' }]);
  });

  it('takes the title with it in conversations of before, where its event names no message', () => {
    const [started, asked] = conversationDecider.decide(ask(1), conversationDecider.initial);
    const of = { ...started, data: { ...started?.data, messageId: null } } as ConversationEvent;
    const state = [of, asked as ConversationEvent].reduce(evolve, conversationDecider.initial);
    expect(conversationDecider.decide(deletion('m1'), state)[0]).toMatchObject({ type: 'ConversationTitled' });
  });

  it('ends the answer under way: alone, or with its question', () => {
    const ended = { messageId: 'a1', isUnfinished: true };
    expect(decide(deletion('a1'), ask(1))).toMatchObject([{ data: { ...ended, parentId: 'm1' } }]);
    expect(decide(deletion('m1'), ask(1))).toMatchObject([
      { type: 'ConversationTitled' },
      { data: { ...ended, parentId: 'm1' } },
      { data: { messageId: 'm1' } },
    ]);
    for (const gone of ['a1', 'm1']) {
      expect(decide(answer(1), ask(1), deletion(gone))).toEqual([]);
      const more = {
        type: 'Continue',
        answerId: 'a1',
        part: 0,
        offset: 0,
        parts: [{ type: 'text', text: 'x' }],
      } as const;
      expect(decide(more, ask(1), deletion(gone))).toEqual([]);
      expect(decide(ask(2), ask(1), deletion(gone))).toMatchObject([{ data: { messageId: 'm2' } }]);
    }
  });

  it('is unknown where it never was', () => {
    expect(() => decide(deletion('m9'), ask(1))).toThrow('not_found');
    expect(decide({ type: 'RemoveMessage', messageId: 'm9' }, ask(1))).toEqual([]);
    expect(decide({ type: 'RemoveMessage', messageId: 'm9' })).toEqual([]);
  });
});
