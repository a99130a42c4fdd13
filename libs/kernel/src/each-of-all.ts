import { isUnavailable } from './errors';

/**
 * Does work for each item, one after the other, until it returns false. A failed item does not stop the others: the
 * first failure is thrown at the end, or at once if a store is unavailable. Our own: `p-map` stops at the first failure
 * or at none, and an outage fails all alike.
 */
export const eachOfAll = async <T>(items: Iterable<T>, work: (item: T) => Promise<boolean | void>): Promise<void> => {
  const failures: unknown[] = [];
  for (const item of items) {
    try {
      if ((await work(item)) === false) break;
    } catch (error) {
      if (isUnavailable(error)) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
};
