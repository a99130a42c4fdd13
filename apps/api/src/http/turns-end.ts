let ending: Promise<void> | undefined;

/**
 * Resolves when all that arrived together has been worked on, for everybody who waits at once. Answers that are written one
 * right after the other wake a client once, where each alone may wake it, which costs as much as writing. Nobody waits long:
 * one request alone is its turn's end at once.
 */
export const turnsEnd = (): Promise<void> =>
  (ending ??= new Promise((resolve) => {
    setImmediate(() => {
      ending = undefined;
      resolve();
    });
  }));
