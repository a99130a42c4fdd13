import { stat } from 'node:fs/promises';

/**
 * Tells how many bytes a file that is being written has, every so many milliseconds; nothing while it is not there. The function that it
 * answers ends that, and throws what was thrown by whoever was told.
 */
export const watchSize = (file: string, everyMs: number, onBytes: (bytes: number) => void): (() => void) => {
  let thrown: { readonly error: unknown } | undefined;
  const poll = setInterval(() => void look(), everyMs);
  const stop = (): void => clearInterval(poll);
  let isOver = false;
  const look = async (): Promise<void> => {
    const size = await stat(file).then(
      (found) => found.size,
      () => undefined,
    );
    if (size === undefined || isOver) return;
    try {
      onBytes(size);
    } catch (error) {
      isOver = true;
      thrown = { error };
      stop();
    }
  };
  return () => {
    isOver = true;
    stop();
    if (thrown !== undefined) throw thrown.error;
  };
};
