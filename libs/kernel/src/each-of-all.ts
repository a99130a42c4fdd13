import { isUnavailable } from './errors';

/**
 * Does work for each, one after the other, until it answers false. One that fails keeps no other from it: the first failure is thrown at
 * the end, or at once where a store is away. Our own: `p-map` stops at the first failure or at none, and an outage fails all alike.
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
