import { isAccessDenied, isUnavailable } from './errors';
import { offBudget } from './wait-budget';

const RETRY_MS = 1_000;
/** The pauses of `retryUntilAnswered`. */
const FIRST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 1_000;
/** Servers and processes may be started in any order, and a server that is away for minutes keeps nobody from starting; but not for ever. */
const TIMEOUT_MS = 10 * 60_000;
/** A server that starts may not know its users yet; one that goes on rejecting this one is set up otherwise than this process. */
const MOST_DENIALS = 5;

/** Called with a sentence that says what is waited for. */
export type Warn = (sentence: string) => void;

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
 * Runs work that needs a server and may be repeated until the server answers, up to five times while it rejects the
 * user. Throws the last error when the time is over. Our own: cockatiel has one count of attempts, and here
 * rejections are counted apart from the time.
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
 * Retries while a store is away, outside of any request's wait budget: such work often serves many requests, or runs
 * after the answer. Our own, seven lines: of cockatiel it would use the growing pause alone.
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
