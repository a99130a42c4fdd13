import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from './errors';
import { offBudget } from './wait-budget';

const FIRST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 1_000;

/**
 * Retries for as long as a store is away, outside of any request's wait budget: such work often serves many requests, or runs after the
 * answer. Our own: a loop of seven lines, where cockatiel's retry wants a number of attempts, and Node 22.
 */
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
