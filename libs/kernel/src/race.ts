import { setTimeout as pause } from 'node:timers/promises';
import type { Receipt } from './command-meta';
import { reject } from './errors';

/** Decide again for this long while other writers are faster. */
const RACE_MS = 5_000;
/**
 * The same including the time in the queue of this process, which continues if the queue is long: a request then has a
 * second and a half left for its response.
 */
export const LINE_MS = 8_000;
/** Longest random pause between two attempts when another process was faster. */
const LONGEST_PAUSE_MS = 50;

/** Retries until no race is lost or the time is over, at least once. `latest`: the latest time to stop. */
export const retryLostRaces = async (
  attempt: () => Promise<Receipt | undefined>,
  stream: string,
  latest: number,
): Promise<Receipt> => {
  const deadline = Math.min(latest, performance.now() + RACE_MS);
  for (let lost = 1; ; lost += 1) {
    const receipt = await attempt();
    if (receipt !== undefined) return receipt;
    if (performance.now() > deadline) return reject('conflict', { reason: 'concurrent_changes', stream });
    await pause(Math.random() * Math.min(2 ** lost, LONGEST_PAUSE_MS));
  }
};
