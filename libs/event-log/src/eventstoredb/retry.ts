import { WAIT_MS, waiting } from '@app/kernel';
import { serverFault, ServerFault } from './server-errors';

const FIRST_PAUSE = 25;
const LONGEST_PAUSE = 400;
/** Milliseconds that somebody waits while no connection to a server lives: with what they do beside, they are told within 2 s. */
const GONE_MS = 1_900;

/** The connection to the server, as those who wait see it. */
export interface Link {
  /** When the last connection was lost, by `performance.now()`; undefined while one lives. */
  readonly lostAt: number | undefined;
  /** What keeps a connection from coming about, where that is known. */
  readonly trouble: ServerFault | undefined;
}

/** Bounds of `retry`. */
export interface CallRetryOptions {
  /** Milliseconds in all; as long as the log is waited for by default. */
  readonly timeoutMs?: number;
  readonly isRetryable?: (fault: ServerFault) => boolean;
}

/** A try: how many milliseconds it may take, and, while no connection lives, what says that nobody waits for it any more. */
export type Attempt<T> = (milliseconds: number, givenUp?: AbortSignal) => Promise<T>;

/**
 * Retries temporary failures with doubling pauses, for 1.9 s without a connection and 9.5 s otherwise, less if the
 * request has waited before. Throws the last `ServerFault` that says more than that there was no answer. Our own: a timeout of
 * cockatiel is set at the start, and this deadline moves while a try runs, as connections are lost and come back.
 */
export const retry = <T>(
  link: Link,
  attempt: Attempt<T>,
  { timeoutMs = WAIT_MS, isRetryable = ({ isPassing }) => isPassing }: CallRetryOptions = {},
): Promise<T> =>
  waiting(timeoutMs, async (milliseconds) => {
    const begun = performance.now();
    const ends = (): number =>
      Math.min(begun + milliseconds, link.lostAt === undefined ? Infinity : Math.max(begun, link.lostAt) + GONE_MS);
    let told: ServerFault | undefined;
    for (let wait = FIRST_PAUSE; ; wait = Math.min(2 * wait, LONGEST_PAUSE)) {
      try {
        return await connected(link, ends, (givenUp) =>
          attempt(Math.max(begun + milliseconds - performance.now(), 1), givenUp),
        );
      } catch (error) {
        const fault = serverFault(error);
        if (fault.fault !== 'late' || told === undefined) told = fault;
        const next = wait * (0.5 + Math.random() / 2);
        if (!isRetryable(fault)) throw fault;
        if (performance.now() + next >= ends()) throw explained(told, link);
        await pause(next);
      }
    }
  });

/** Ends a try that waits for a connection when it has for too long. A try over one that lives ends by itself, also when that is lost. */
const connected = async <T>(
  link: Link,
  ends: () => number,
  attempt: (givenUp?: AbortSignal) => Promise<T>,
): Promise<T> => {
  if (link.lostAt === undefined) return attempt();
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const gone = new Promise<never>((_resolve, reject) => {
    const look = (): void => {
      const left = link.lostAt === undefined ? GONE_MS : ends() - performance.now();
      if (left > 0) {
        timer = setTimeout(look, left);
        return;
      }
      over.abort();
      reject(new ServerFault('unreachable'));
    };
    look();
  });
  try {
    return await Promise.race([attempt(over.signal), gone]);
  } finally {
    clearTimeout(timer);
  }
};

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

const explained = (fault: ServerFault, { trouble }: Link): ServerFault =>
  fault.fault === 'unreachable' && trouble !== undefined ? trouble : fault;

/**
 * Waits for shared work as long as `retry` would. The work continues if this caller gets `late`, or the reason why
 * there is no connection.
 */
export const awaited = <T>(link: Link, work: Promise<T>): Promise<T> =>
  waiting(WAIT_MS, async (milliseconds) => {
    const begun = performance.now();
    let isAnswered = false;
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<never>((_resolve, reject) => {
      const look = (): void => {
        if (isAnswered) return;
        const gone = link.lostAt === undefined ? Infinity : Math.max(begun, link.lostAt) + GONE_MS;
        const now = performance.now();
        // A connection that is lost behind this look is gone at the next one at the earliest.
        const left = Math.min(begun + milliseconds, gone === Infinity ? now + GONE_MS : gone) - now;
        if (left > 0) timer = setTimeout(() => setImmediate(look), Math.ceil(left));
        else reject(explained(new ServerFault(gone === Infinity ? 'late' : 'unreachable'), link));
      };
      look();
    });
    try {
      return await Promise.race([work, over]);
    } finally {
      isAnswered = true;
      clearTimeout(timer);
    }
  });

/** Throws the fault `late` when work of others, who go on with it, takes longer. */
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
