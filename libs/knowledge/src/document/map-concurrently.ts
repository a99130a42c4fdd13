import { setImmediate as nextTurn } from 'node:timers/promises';

/** Documents that one request works on at once. */
const AT_ONCE = 8;

/** Does something with each of many documents, some at once, in order of beginning. Ends with the first error, once nothing runs any more. */
export const mapConcurrently = async <From, To>(
  all: readonly From[],
  work: (one: From) => Promise<To>,
): Promise<readonly To[]> => {
  const done: To[] = [];
  const waiting = all.entries();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (const [index, one] of waiting) {
      if (failed) return;
      try {
        done[index] = await work(one);
      } catch (error) {
        failed = true;
        throw error;
      }
      // An embedded log answers without a turn of the event loop.
      await nextTurn();
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  for (const ended of workers) if (ended.status === 'rejected') throw ended.reason;
  return done;
};
