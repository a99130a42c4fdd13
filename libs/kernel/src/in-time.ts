/**
 * The result of the work, or undefined if it takes longer. It then continues unobserved. Our own: libraries reject what is late, and
 * do not let a result that arrives in the same turn of the loop win.
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
