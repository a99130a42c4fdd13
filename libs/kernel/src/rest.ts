import { setTimeout as pause } from 'node:timers/promises';

/** Resolves after so many milliseconds, or as soon as the signal is aborted. */
export const rest = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
  try {
    await pause(milliseconds, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};
