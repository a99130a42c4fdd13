import { offBudget, onBudget, WAIT_MS, WaitBudget, waitBudget, waiting } from './wait-budget';

describe('what a request waits for the log', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const lasting = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
  /** How long each step may wait, of those that take so long each. */
  const stepsOf = async (budget: WaitBudget, ...milliseconds: readonly number[]): Promise<number[]> => {
    const allowed: number[] = [];
    const steps = onBudget(budget, async () => {
      for (const each of milliseconds)
        await waiting(WAIT_MS, (most) => (allowed.push(Math.round(most)), lasting(each)));
    });
    await jest.advanceTimersByTimeAsync(milliseconds.reduce((sum, each) => sum + each, 0));
    await steps;
    return allowed;
  };

  it('is one budget for all its steps', async () => {
    expect(await stepsOf(new WaitBudget(undefined), 4_000, 4_000, 1_000, 500, 1)).toEqual([
      9_500, 5_500, 1_500, 500, 0,
    ]);
  });

  it('is used up once by steps that wait at the same time', async () => {
    const budget = new WaitBudget(undefined);
    const steps = onBudget(budget, () =>
      Promise.all([1_000, 2_000, 3_000].map((each) => waiting(WAIT_MS, () => lasting(each)))),
    );
    await jest.advanceTimersByTimeAsync(3_000);
    await steps;

    expect(Math.round(budget.remaining)).toBe(WAIT_MS - 3_000);
  });

  it('is regained slowly by what lasts long and waits for other things', async () => {
    const budget = new WaitBudget(undefined);
    await stepsOf(budget, 9_000);
    await jest.advanceTimersByTimeAsync(6_000);
    expect(Math.round(budget.remaining)).toBe(1_500);
    await jest.advanceTimersByTimeAsync(600_000);
    expect(Math.round(budget.remaining)).toBe(WAIT_MS);
  });

  it('is no longer than one wait may take, and no budget where nobody waits or many do', async () => {
    const most = (): Promise<number> => waiting(1_000, async (milliseconds) => milliseconds);
    expect(await most()).toBe(1_000);
    await onBudget(new WaitBudget(50, 200), async () => {
      expect(waitBudget()?.recallAfter).toBe(50);
      expect(Math.round(await most())).toBe(200);
      expect(await offBudget(most)).toBe(1_000);
    });
  });
});
