import { WakeSignal } from './wake-signal';
import { ownTimers } from '../../../test/fixtures/own-timers';

describe('a wake signal', () => {
  let signal: WakeSignal;
  let timers: ReturnType<typeof ownTimers>;
  beforeEach(() => {
    jest.useFakeTimers();
    timers = ownTimers();
    signal = new WakeSignal();
  });
  afterEach(() => {
    signal.end();
    expect(timers.left).toBe(0);
    jest.useRealTimers();
  });

  /** What a wait resolves to; undefined while it waits. */
  const waiting = (milliseconds: number): { heard: boolean | undefined } => {
    const wait: { heard: boolean | undefined } = { heard: undefined };
    void signal.wait(milliseconds).then((heard) => (wait.heard = heard));
    return wait;
  };

  it('wakes who waits, now or later', async () => {
    const now = waiting(100);
    signal.wake();
    await jest.advanceTimersByTimeAsync(0);
    expect(now.heard).toBe(true);
    expect(await signal.wait(100)).toBe(true);
  });

  it('gives every wait its whole time, whatever is left of one before', async () => {
    waiting(100);
    await jest.advanceTimersByTimeAsync(60);
    signal.wake();
    await jest.advanceTimersByTimeAsync(0);
    for (const milliseconds of [100, 100, 50, 100]) {
      signal.reset();
      const wait = waiting(milliseconds);
      await jest.advanceTimersByTimeAsync(milliseconds - 1);
      expect(wait.heard).toBeUndefined();
      await jest.advanceTimersByTimeAsync(1);
      expect(wait.heard).toBe(false);
    }
  });

  it('throws what broke it', async () => {
    const wait = signal.wait(100);
    signal.break(new Error('cut'));
    await expect(wait).rejects.toThrow('cut');
    signal.reset();
    signal.wake();
    expect(await signal.wait(100)).toBe(true);
  });
});
