import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Maximum milliseconds that all steps of a request wait for the log. With the rest of its work it is answered within
 * 10 s.
 */
export const WAIT_MS = 9_500;
/** Milliseconds after which a read continues with the last known state of the log, if that is enough. */
export const RECALL_AFTER_MS = 2_000;
/** A long request, such as a streaming answer, regains a second for each so many seconds without waiting. */
const REGAINED_EVERY = 6;

/**
 * The time that a request may still wait for the log. Its steps share it: if a slow log needs 4 s for each of three,
 * the third is given up early. Steps that wait at the same time spend it once.
 */
export class WaitBudget {
  private left: number;
  private waiting = 0;
  private at = performance.now();

  /**
   * `recallAfter`: milliseconds after which it continues with the last known state; undefined for a request that
   * changes something.
   */
  constructor(
    readonly recallAfter: number | undefined,
    private readonly most = WAIT_MS,
  ) {
    this.left = most;
  }

  /** Milliseconds, 0 at least. */
  get remaining(): number {
    const now = performance.now();
    const passed = now - this.at;
    this.at = now;
    this.left =
      this.waiting > 0 ? Math.max(0, this.left - passed) : Math.min(this.most, this.left + passed / REGAINED_EVERY);
    return this.left;
  }

  /** What is waited for by `work` is used up. */
  async spend<T>(work: (remaining: number) => Promise<T>): Promise<T> {
    const { remaining } = this;
    this.waiting += 1;
    try {
      return await work(remaining);
    } finally {
      // What has passed until now was waiting.
      void this.remaining;
      this.waiting -= 1;
    }
  }
}

const current = new AsyncLocalStorage<WaitBudget | undefined>();

/** Runs work, and all that it calls, on one budget. */
export const onBudget = <T>(budget: WaitBudget, work: () => T): T => current.run(budget, work);

/** Runs shared work without a budget: the request that starts it must not end it for the others. */
export const offBudget = <T>(work: () => T): T =>
  current.getStore() === undefined ? work() : current.run(undefined, work);

/** The budget of the current request; undefined for work that no request waits for. */
export const waitBudget = (): WaitBudget | undefined => current.getStore();

/** Waits for the log at most this many milliseconds, and no longer than the budget of the request. */
export const waiting = <T>(most: number, work: (milliseconds: number) => Promise<T>): Promise<T> => {
  const budget = waitBudget();
  return budget === undefined ? work(most) : budget.spend((remaining) => work(Math.min(most, remaining)));
};
