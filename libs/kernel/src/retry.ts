import { isAccessDenied, isUnavailable } from './errors';
import { offBudget } from './wait-budget';

const RETRY_MS = 1_000;
/** The pauses of `retryUntilAnswered`. */
const FIRST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 1_000;
/**
 * Servers and processes may start in any order, and a server that is unavailable for minutes does not prevent a start;
 * but not for ever.
 */
const TIMEOUT_MS = 10 * 60_000;
/** A starting server may not know its users yet. One that keeps rejecting this user has a different configuration. */
const MOST_DENIALS = 5;

/** Called with a sentence that says what is waited for. */
type Warn = (sentence: string) => void;

/** Receives such sentences; a structured logger fits. */
export interface Warning {
  warn(sentence: string): void;
}

/** Bounds of `retry`, and who is told of each failure. */
export interface RetryOptions {
  readonly warn?: Warn | undefined;
  /** How long a server is waited for, milliseconds; ten minutes by default. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Repeats work that needs a server until the server responds, and up to five times while it rejects the user. Throws
 * the last error when the time is over. Our own: cockatiel has one count of attempts, and here rejections are counted
 * separately from the time.
 */
export const retry = async <T>(
  work: () => Promise<T>,
  { warn, timeoutMs = TIMEOUT_MS }: RetryOptions = {},
): Promise<T> => {
  let denials = 0;
  for (const deadline = performance.now() + timeoutMs; ; await pause(RETRY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (isAccessDenied(error)) denials += 1;
      if (!isUnavailable(error) || performance.now() > deadline || denials >= MOST_DENIALS) throw error;
      warn?.(`${error.message}; retrying`);
    }
  }
};

/**
 * Retries while a store is unavailable, outside of any request's wait budget: such work often serves many requests, or
 * runs after the response. Our own, seven lines: only cockatiel's growing pause would be used.
 */
export const retryUntilAnswered = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    try {
      return await offBudget(work);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      await pause(wait, { ref: false });
    }
  }
};

const pause = (milliseconds: number, { ref } = { ref: true }): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    if (!ref) timer.unref();
  });
