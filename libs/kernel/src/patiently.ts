import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from './errors';

const RETRY_MS = 1_000;
/** Servers and processes may be started in any order, and a server that is away for minutes keeps nobody from starting; but not for ever. */
const PATIENCE_MS = 10 * 60_000;

/** Told, in a sentence, what is waited for. */
export type Warn = (sentence: string) => void;

export interface Patience {
  readonly warn?: Warn | undefined;
  /** How long a server is waited for, milliseconds; ten minutes by default. */
  readonly patienceMs?: number | undefined;
}

/** Does what needs a server, and may be done again, until the server answers; when patience ends, throws what it said last. */
export const patiently = async <T>(work: () => Promise<T>, { warn, patienceMs = PATIENCE_MS }: Patience = {}): Promise<T> => {
  for (const deadline = performance.now() + patienceMs; ; await pause(RETRY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || performance.now() > deadline) throw error;
      warn?.(`${error.message}; trying again`);
    }
  }
};
