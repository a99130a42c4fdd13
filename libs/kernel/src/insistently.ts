import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from './errors';
import { offBudget } from './wait-budget';

const FIRST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 1_000;

/** Does something again and again for as long as a store that it needs is away, on no request's budget: it is often done for many, and after the answer. */
export const insistently = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    try {
      return await offBudget(work);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      await pause(wait, undefined, { ref: false });
    }
  }
};
