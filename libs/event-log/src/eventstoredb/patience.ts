import { setTimeout as pause } from 'node:timers/promises';
import { serverFault, ServerFault } from './server-errors';

const FIRST_PAUSE = 25;
const LONGEST_PAUSE = 400;

/**
 * Tries again what fails in passing, with pauses that double, until it succeeds or so many milliseconds are over; each try
 * is told how long it may take. Throws the last `ServerFault` that says more than that there was no answer.
 */
export const patiently = async <T>(milliseconds: number, attempt: (left: number) => Promise<T>, isWorthwhile: (fault: ServerFault) => boolean = ({ isPassing }) => isPassing): Promise<T> => {
  const ends = performance.now() + milliseconds;
  let told: ServerFault | undefined;
  for (let wait = FIRST_PAUSE; ; wait = Math.min(2 * wait, LONGEST_PAUSE)) {
    try {
      return await attempt(Math.max(ends - performance.now(), 1));
    } catch (error) {
      const fault = serverFault(error);
      if (fault.fault !== 'late' || told === undefined) told = fault;
      const next = wait * (0.5 + Math.random() / 2);
      if (!isWorthwhile(fault)) throw fault;
      if (performance.now() + next >= ends) throw told;
      await pause(next);
    }
  }
};

/**
 * Throws the fault `late` when work takes longer. The work goes on by itself; how it ends is of no interest then. After this
 * process stood still, an answer that has arrived meanwhile is heard first.
 */
export const within = async <T>(milliseconds: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => setImmediate(() => reject(new ServerFault('late'))), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};
