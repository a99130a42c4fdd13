import { IncognitoConversation } from './incognito-conversation';

const START = new Date('2026-11-23T12:00:00.000Z');
const LATER = new Date('2026-11-23T12:01:00.000Z');
const text = (said: string) => [{ type: 'text' as const, text: said }];

const opened = () => {
  const conversation = new IncognitoConversation('c', { userId: 'user', agentId: 'agent' }, 'command', START);
  const ask = (number: number, said: string, parentId?: string | null) =>
    conversation.ask({ messageId: `m${number}`, answerId: `a${number}`, parts: text(said) }, parentId, START);
  const answer = (number: number, said: string, status: 'complete' | 'failed' = 'complete') =>
    conversation.answered(
      `a${number}`,
      { parts: text(said), status, finishReason: 'stop', model: 'm', usage: null },
      LATER,
    );
  /** Who said what of the branch that a model is shown. */
  const shown = (last?: string): readonly (readonly [string, string])[] =>
    conversation
      .branch(last)
      .map(({ role, content }) => [role, content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join()]);
  return { conversation, ask, answer, shown };
};

describe('an incognito conversation', () => {
  it('shows a model the branch of a message, but for answers that failed or say nothing', () => {
    const { ask, answer, shown } = opened();
    ask(1, 'A');
    answer(1, 'B');
    ask(2, 'C');
    answer(2, 'lost', 'failed');
    ask(3, 'D');
    answer(3, '');
    ask(4, 'beside', 'a1');
    answer(4, 'E');
    expect(shown()).toEqual([
      ['user', 'A'],
      ['assistant', 'B'],
      ['user', 'beside'],
      ['assistant', 'E'],
    ]);
    expect(shown('a3').map(([, said]) => said)).toEqual(['A', 'B', 'C', 'D']);
    expect(shown('unknown')).toEqual([]);
  });

  it('shows a model no more than the newest messages, and one at least', () => {
    const { ask, answer, shown } = opened();
    const long = 'x'.repeat(40_000);
    ask(1, long);
    answer(1, long);
    ask(2, long);
    expect(shown('m2')).toHaveLength(2);
    answer(2, 'x'.repeat(100_001));
    expect(shown()).toHaveLength(1);
  });

  it('is changed, and used, with each answer', () => {
    const { conversation, ask, answer } = opened();
    ask(1, 'A');
    expect([conversation.revision, conversation.updatedAt]).toEqual([2, START]);
    answer(1, 'B');
    expect([conversation.revision, conversation.updatedAt, conversation.lastUsedAt]).toEqual([3, LATER, LATER]);
    answer(2, 'unknown');
    expect(conversation.revision).toBe(3);
    conversation.askAgain('m1', 'a2', START);
    expect(conversation.updatedAt).toEqual(START);
  });

  it('answers one question of a branch at a time, and asks nothing below an unknown message', () => {
    const { conversation, ask, answer } = opened();
    ask(1, 'A');
    for (const parentId of [undefined, 'm1', 'a1'])
      expect(() => ask(2, 'B', parentId)).toThrow(expect.objectContaining({ code: 'turn_in_progress' }));
    expect(() => conversation.askAgain('m1', 'a2', LATER)).toThrow(
      expect.objectContaining({ code: 'turn_in_progress' }),
    );
    answer(1, 'B');
    expect(() => ask(2, 'C', 'unknown')).toThrow(expect.objectContaining({ code: 'not_found' }));
    conversation.askAgain('m1', 'a2', LATER);
    expect(() => ask(3, 'D')).toThrow(expect.objectContaining({ code: 'turn_in_progress' }));
    ask(3, 'D', null);
    answer(2, 'E');
    ask(4, 'F', 'a2');
    expect(conversation.question('a2').id).toBe('m1');
    expect(() => conversation.question('unknown')).toThrow(expect.objectContaining({ code: 'not_found' }));
  });

  it('has nothing left of a question that was taken back', () => {
    const { conversation, ask, answer } = opened();
    ask(1, 'A');
    answer(1, 'B');
    const { bytes } = conversation;
    ask(2, 'C');
    conversation.retract('a2', 'm2');
    expect([conversation.bytes, conversation.messageCount]).toEqual([bytes, 2]);
    ask(3, 'D');
    expect(conversation.message('m3')?.parentId).toBe('a1');
    answer(3, 'E');
    conversation.askAgain('m1', 'a4', LATER);
    conversation.retract('a4');
    expect(conversation.messageCount).toBe(4);
    expect(conversation.list().map(({ id }) => id)).toEqual(['a3', 'm3', 'a1', 'm1']);
  });
});
