import { IdlePool } from './idle-pool';

const IDLE_MS = 1_000;
const setUp = () => {
  const ended: string[] = [];
  return { ended, pool: new IdlePool<{ readonly name: string }>(({ name }) => void ended.push(name), IDLE_MS) };
};

describe('The idle resource of a pool', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is taken once, and not ended then', () => {
    const { pool, ended } = setUp();
    pool.keep({ name: 'a' });
    expect([pool.hasIdle, pool.take()?.name, pool.hasIdle, pool.take()]).toEqual([true, 'a', false, undefined]);
    jest.advanceTimersByTime(2 * IDLE_MS);
    pool.clear();
    expect(ended).toEqual([]);
  });

  it('is only one: a second one that is kept is ended', () => {
    const { pool, ended } = setUp();
    pool.keep({ name: 'a' });
    pool.keep({ name: 'b' });
    expect([ended, pool.take()?.name]).toEqual([['b'], 'a']);
  });

  it('is ended where nobody takes it, as long after it was kept last', () => {
    const { pool, ended } = setUp();
    const thing = { name: 'a' };
    pool.keep(thing);
    jest.advanceTimersByTime(IDLE_MS - 1);
    pool.take();
    pool.keep(thing);
    jest.advanceTimersByTime(IDLE_MS - 1);
    expect(ended).toEqual([]);
    jest.advanceTimersByTime(1);
    expect([ended, pool.hasIdle]).toEqual([['a'], false]);
  });

  it('is forgotten where it ended by itself', () => {
    const { pool, ended } = setUp();
    const thing = { name: 'a' };
    pool.forget(thing);
    pool.keep(thing);
    pool.forget({ name: 'a' });
    expect(pool.hasIdle).toBe(true);
    pool.forget(thing);
    expect([pool.hasIdle, ended]).toEqual([false, []]);
  });
});
