let ending: Promise<void> | undefined;

/**
 * Resolves at the end of this turn of the event loop, for all who wait at once. Answers that are written one right after the
 * other wake a client once; each by itself may wake it, which costs as much as the write. A request alone waits for nobody.
 */
export const turnsEnd = (): Promise<void> =>
  (ending ??= new Promise((resolve) => {
    setImmediate(() => {
      ending = undefined;
      resolve();
    });
  }));
