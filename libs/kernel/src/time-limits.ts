import { setTimeout as pause } from 'node:timers/promises';
import { afterWaiting } from './after-waiting';

/** Resolves after so many milliseconds, or as soon as the signal is aborted. */
export const pauseUnlessAborted = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
  try {
    await pause(milliseconds, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};

/** True if work resolves or rejects within so many milliseconds. */
export const settlesWithin = async (milliseconds: number, work: Promise<unknown>): Promise<boolean> => {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const settled = afterWaiting(milliseconds, () => resolve(false));
  const isInTime = await Promise.race([
    work.then(
      () => true,
      () => true,
    ),
    late,
  ]);
  settled();
  return isInTime;
};

/**
 * The result of the work, or undefined if it takes longer; it then continues unobserved. Our own: libraries reject
 * late work, and lose a result that arrives in the same turn of the loop.
 */
export const inTime = async <T>(milliseconds: number, work: Promise<T>): Promise<T | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => setImmediate(() => resolve(undefined)), milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};
