/** In how many parts is waited. */
const PARTS = 10;

/**
 * Calls `late` after this waiting time, unless the returned function is called before. It waits in parts. If the whole
 * process was suspended, that ends at most one part, so events that arrived meanwhile are handled before `late`.
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
