import { setTimeout as pause } from 'node:timers/promises';

/** Resolves after so many milliseconds, or as soon as the signal is aborted. */
export const rest = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
  try {
    await pause(milliseconds, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};

/** Whether work settles, one way or the other, within so many milliseconds. */
export const settlesWithin = async (milliseconds: number, work: Promise<unknown>): Promise<boolean> => {
  const settled = new AbortController();
  const late = rest(milliseconds, settled.signal).then(() => false);
  const isInTime = await Promise.race([
    work.then(
      () => true,
      () => true,
    ),
    late,
  ]);
  settled.abort();
  return isInTime;
};
