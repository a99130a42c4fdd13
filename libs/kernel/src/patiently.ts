import { isAccessDenied, isUnavailable } from './errors';

const RETRY_MS = 1_000;
/** Servers and processes may be started in any order, and a server that is away for minutes keeps nobody from starting; but not for ever. */
const PATIENCE_MS = 10 * 60_000;
/** A server that starts may not know its users yet; one that goes on refusing this one is set up otherwise than this process. */
const MOST_DENIALS = 5;

/** Told, in a sentence, what is waited for. */
export type Warn = (sentence: string) => void;

export interface Patience {
  readonly warn?: Warn | undefined;
  /** How long a server is waited for, milliseconds; ten minutes by default. */
  readonly patienceMs?: number | undefined;
}

/**
 * Does what needs a server, and may be done again, until the server answers, five times where it refuses the user; when patience ends,
 * throws what it said last. Our own: a retry of cockatiel knows one count of attempts, here refusals are counted apart from a time that ends.
 */
export const patiently = async <T>(
  work: () => Promise<T>,
  { warn, patienceMs = PATIENCE_MS }: Patience = {},
): Promise<T> => {
  let denials = 0;
  for (const deadline = performance.now() + patienceMs; ; await pause(RETRY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (isAccessDenied(error)) denials += 1;
      if (!isUnavailable(error) || performance.now() > deadline || denials >= MOST_DENIALS) throw error;
      warn?.(`${error.message}; retrying`);
    }
  }
};

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
