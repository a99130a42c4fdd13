import { KnownLog } from './known-log';

/** When the followers of the test's log were told. */
let rung: number[];
/** A log of which commits are told; `rung` says when its followers were. */
const followed = () => {
  const known = new KnownLog();
  const begun = performance.now();
  rung = [];
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
  beforeEach(() => jest.useFakeTimers());
  // Timers of packages, which last as long as the process, may be among those that are counted: what counts is that nobody is told later.
  afterEach(async () => {
    const times = rung.length;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(rung).toHaveLength(times);
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
