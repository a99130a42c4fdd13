import { type OpenAnswer, OpenAnswers } from './open-answers';

const answer = (): OpenAnswer => ({}) as OpenAnswer;

describe('answers in progress', () => {
  it('are those that were added and not removed', () => {
    const open = new OpenAnswers();
    const [first, second, third] = [answer(), answer(), answer()];
    const place = open.add(first);
    open.add(second);
    expect([...open]).toEqual([first, second]);
    open.remove(place);
    expect([...open][0]).toBe(second);
    expect(open.size).toBe(1);
    open.add(third);
    expect(open.size).toBe(2);
    expect(new Set(open)).toEqual(new Set([second, third]));
  });

  it('use a place again that another has left', () => {
    const open = new OpenAnswers();
    const place = open.add(answer());
    open.remove(place);
    expect(open.add(answer())).toBe(place);
    expect([...open]).toHaveLength(1);
  });
});
