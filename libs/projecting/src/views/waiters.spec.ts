import { Waiters } from './waiters';

const standStill = (milliseconds: number): void => {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
};

describe('who waits for a view', () => {
  it('is told once it shows the position, and that it does not when the time is over', async () => {
    const waiters = new Waiters();
    const [shown, late] = [waiters.wait('0002', 60_000), waiters.wait('0003', 50)];
    waiters.advance('0002');
    expect([await shown, await late]).toEqual([true, false]);
  });

  it('does not take it for late where the process stood still, and the view is written behind that', async () => {
    const waiters = new Waiters();
    const shown = waiters.wait('0002', 300);
    // What a page of it takes: several turns.
    setImmediate(() => setImmediate(() => setTimeout(() => waiters.advance('0002'), 1)));
    standStill(400);
    expect(await shown).toBe(true);
  });
});
