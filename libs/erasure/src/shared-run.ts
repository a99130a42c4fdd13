/** Runs work once for all who ask before it begins: who asks while it runs gets the next run, since theirs may have come too late for this one. */
export const sharedRun = (work: () => Promise<void>): (() => Promise<void>) => {
  let next: Promise<void> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    next ??= last.then(() => {
      next = undefined;
      const run = work();
      last = run.catch(() => undefined);
      return run;
    });
    return next;
  };
};
