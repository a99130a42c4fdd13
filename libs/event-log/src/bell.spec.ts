import { Bell } from './bell';

describe('a bell', () => {
  let bell: Bell;
  beforeEach(() => {
    jest.useFakeTimers();
    bell = new Bell();
  });
  afterEach(() => {
    bell.end();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  /** What a wait resolves to; undefined while it waits. */
  const waiting = (milliseconds: number): { heard: boolean | undefined } => {
    const wait: { heard: boolean | undefined } = { heard: undefined };
    void bell.wait(milliseconds).then((heard) => (wait.heard = heard));
    return wait;
  };

  it('wakes who waits, now or later', async () => {
    const now = waiting(100);
    bell.ring();
    await jest.advanceTimersByTimeAsync(0);
    expect(now.heard).toBe(true);
    expect(await bell.wait(100)).toBe(true);
  });

  it('gives every wait its whole time, whatever is left of one before', async () => {
    waiting(100);
    await jest.advanceTimersByTimeAsync(60);
    bell.ring();
    await jest.advanceTimersByTimeAsync(0);
    for (const milliseconds of [100, 100, 50, 100]) {
      bell.reset();
      const wait = waiting(milliseconds);
      await jest.advanceTimersByTimeAsync(milliseconds - 1);
      expect(wait.heard).toBeUndefined();
      await jest.advanceTimersByTimeAsync(1);
      expect(wait.heard).toBe(false);
    }
  });

  it('throws what broke it', async () => {
    const wait = bell.wait(100);
    bell.break(new Error('cut'));
    await expect(wait).rejects.toThrow('cut');
    bell.reset();
    bell.ring();
    expect(await bell.wait(100)).toBe(true);
  });
});
