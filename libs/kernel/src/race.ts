import { setTimeout as pause } from 'node:timers/promises';
import type { Receipt } from './command-meta';
import { reject } from './errors';

/** Decide again for this long while other writers are faster. */
const RACE_MS = 5_000;
/** The same with the time in the line of this process, which goes on while it is long: a request has a second and a half left then to be answered in. */
export const LINE_MS = 8_000;
/** Longest random pause between two attempts when another process was faster. */
const LONGEST_PAUSE_MS = 50;

/** Tries until no race is lost or the time is over, at least once. `latest`: when it is over at the latest. */
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
