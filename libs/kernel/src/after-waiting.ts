/** In how many parts is waited. */
const PARTS = 10;

/**
 * Calls `late` once so much time was waited, unless what is returned is called before. It waits in parts, and a while in which the whole
 * process stood still ends one of them at most: what came meanwhile is found before it is taken for late.
 */
export const afterWaiting = (milliseconds: number, late: () => void): (() => void) => {
  let left = PARTS;
  const wait = (): NodeJS.Timeout =>
    setTimeout(() => {
      left -= 1;
      if (left === 0) late();
      else timer = wait();
    }, milliseconds / PARTS);
  let timer = wait();
  return () => clearTimeout(timer);
};
