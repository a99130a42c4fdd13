import { setTimeout as pause } from 'node:timers/promises';
import { Rejected } from './platform-client';

/** How often a platform that cannot serve a request now is asked again. */
const MOST_REPEATS = 30;
/** How long is waited where an answer does not say, and at most, seconds. */
const PAUSE_SECONDS = 5;
const LONGEST_PAUSE_SECONDS = 60;

const UNAVAILABLE: ReadonlySet<string> = new Set(['unavailable', 'view_unavailable']);

/**
 * Asks again where requests come too fast, as often as it takes, and where the platform cannot serve them now, 30 times in a row. For
 * requests that do the same when they are made twice: one that could not be answered may have been served. Our own: each answer says
 * how long to wait, and its code whether the try counts; cockatiel counts all.
 */
export const retryRejected = async <T>(
  ask: () => Promise<T>,
  wait: (milliseconds: number) => Promise<unknown> = pause,
): Promise<T> => {
  for (let repeats = 0; ;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
      const isUnavailable = UNAVAILABLE.has(error.code) && repeats < MOST_REPEATS;
      if (error.code !== 'rate_limited' && !isUnavailable) throw error;
      repeats = isUnavailable ? repeats + 1 : 0;
      const seconds = Number(error.facts['retryAfterSeconds'] ?? PAUSE_SECONDS) || PAUSE_SECONDS;
      await wait(1_000 * Math.min(LONGEST_PAUSE_SECONDS, seconds));
    }
  }
};
