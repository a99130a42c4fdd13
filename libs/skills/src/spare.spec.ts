import { Spare } from './spare';

const KEPT_MS = 1_000;
const setUp = () => {
  const ended: string[] = [];
  return { ended, spare: new Spare<{ readonly name: string }>(({ name }) => void ended.push(name), KEPT_MS) };
};

describe('A spare', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is taken once, and not ended then', () => {
    const { spare, ended } = setUp();
    spare.keep({ name: 'a' });
    expect([spare.isThere, spare.take()?.name, spare.isThere, spare.take()]).toEqual([true, 'a', false, undefined]);
    jest.advanceTimersByTime(2 * KEPT_MS);
    spare.clear();
    expect(ended).toEqual([]);
  });

  it('is one', () => {
    const { spare, ended } = setUp();
    spare.keep({ name: 'a' });
    spare.keep({ name: 'b' });
    expect([ended, spare.take()?.name]).toEqual([['b'], 'a']);
  });

  it('is ended where nobody takes it, as long after it was kept last', () => {
    const { spare, ended } = setUp();
    const thing = { name: 'a' };
    spare.keep(thing);
    jest.advanceTimersByTime(KEPT_MS - 1);
    spare.take();
    spare.keep(thing);
    jest.advanceTimersByTime(KEPT_MS - 1);
    expect(ended).toEqual([]);
    jest.advanceTimersByTime(1);
    expect([ended, spare.isThere]).toEqual([['a'], false]);
  });

  it('is forgotten where it ended by itself', () => {
    const { spare, ended } = setUp();
    const thing = { name: 'a' };
    spare.forget(thing);
    spare.keep(thing);
    spare.forget({ name: 'a' });
    expect(spare.isThere).toBe(true);
    spare.forget(thing);
    expect([spare.isThere, ended]).toEqual([false, []]);
  });
});
