import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from '@app/kernel';

const RETRY_MS = 1_000;
/** Servers and processes may be started in any order, and a server that is away for minutes keeps nobody from starting; but not for ever. */
const PATIENCE_MS = 10 * 60_000;

/** Told, in a sentence, what is waited for. */
export type Warn = (sentence: string) => void;

/** Does what needs a server again until the server answers, for ten minutes at most by default; then throws what it said last. */
export const patiently = async <T>(work: () => Promise<T>, warn: Warn, patienceMs = PATIENCE_MS): Promise<T> => {
  for (const deadline = performance.now() + patienceMs; ; await pause(RETRY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || performance.now() > deadline) throw error;
      warn(`${error.message}; trying again`);
    }
  }
};
