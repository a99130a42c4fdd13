import { afterWaiting } from './after-waiting';
import { settlesWithin } from './time-limits';

/** Keeps the process from everything, for longer than is waited. */
const standStill = (milliseconds: number): void => {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
};
const comes = (): Promise<string> => new Promise((resolve) => setImmediate(() => setImmediate(() => resolve('came'))));
const isLate = (milliseconds: number): Promise<string> =>
  new Promise((resolve) => afterWaiting(milliseconds, () => resolve('late')));

describe('waiting', () => {
  it('ends once the time is over, and not before', async () => {
    const begun = performance.now();
    expect(await isLate(100)).toBe('late');
    // Timers count whole milliseconds.
    expect(performance.now() - begun).toBeGreaterThan(88);
  });

  it('finds what came while the process stood still before it is over', async () => {
    const ended = Promise.race([isLate(300), comes()]);
    standStill(400);
    expect(await ended).toBe('came');
  });

  it('for work finds what settled while the process stood still', async () => {
    const isSettled = settlesWithin(300, comes());
    standStill(400);
    expect(await isSettled).toBe(true);
  });

  it('is over for nobody who found it', async () => {
    const late = jest.fn();
    afterWaiting(20, late)();
    await isLate(60);
    expect(late).not.toHaveBeenCalled();
  });
});
