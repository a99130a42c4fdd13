import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../exit-codes';

/** Polls until there is an answer other than undefined. Fails after `withinMs`. */
export const poll = async <T>(what: string, withinMs: number, ask: () => Promise<T | undefined>): Promise<T> => {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Failure(`${what} took longer than ${withinMs / 1000} seconds.`);
    await sleep(100);
  }
};
