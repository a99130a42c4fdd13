import { KnownLog } from './known-log';
import { ownTimers } from '../../../../test/fixtures/own-timers';

/** A log of which commits are told; `rung` says when its followers were. */
const followed = () => {
  const known = new KnownLog();
  const begun = performance.now();
  const rung: number[] = [];
  known.listen(() => rung.push(performance.now() - begun));
  const commitFor = async (milliseconds: number): Promise<void> => {
    for (let passed = 0; passed < milliseconds; passed += 1) {
      known.onCommitted();
      await jest.advanceTimersByTimeAsync(1);
    }
  };
  return { known, rung, commitFor };
};

describe('those who follow the log in memory', () => {
  let timers: ReturnType<typeof ownTimers>;
  beforeEach(() => {
    jest.useFakeTimers();
    timers = ownTimers();
  });
  afterEach(() => {
    expect(timers.left).toBe(0);
    jest.useRealTimers();
  });

  it('are told of a commit that comes alone at once, behind who appended', async () => {
    const { known, rung } = followed();
    for (const pause of [0, 100, 10]) {
      await jest.advanceTimersByTimeAsync(pause);
      known.onCommitted();
      await jest.advanceTimersByTimeAsync(1);
    }
    expect(rung).toEqual([1, 102, 113]);
  });

  it('are told of many that follow each other together, the last among them', async () => {
    const { rung, commitFor } = followed();
    await commitFor(25);
    await jest.advanceTimersByTimeAsync(100);
    expect(rung).toEqual([1, 11, 21, 31]);
  });

  it('are told at once where somebody waits for them', async () => {
    const { known, rung, commitFor } = followed();
    await commitFor(3);
    known.hurry();
    await jest.advanceTimersByTimeAsync(1);
    expect(rung).toEqual([1, 4]);
    known.hurry();
    await jest.advanceTimersByTimeAsync(100);
    expect(rung).toHaveLength(2);
  });
});
