import { turnsEnd } from './turns-end';

describe('the end of a turn', () => {
  it('comes for all who wait at once, behind the work of the turn', async () => {
    const done: string[] = [];
    const answer = async (name: string): Promise<void> => {
      done.push(`${name} worked`);
      await Promise.resolve();
      await turnsEnd();
      done.push(`${name} sent`);
    };
    const first = answer('first');
    await Promise.resolve();
    await Promise.all([first, answer('second')]);
    expect(done).toEqual(['first worked', 'second worked', 'first sent', 'second sent']);
  });

  it('waits for whatever the turn still has to do', async () => {
    let isOver = false;
    const waiting = turnsEnd().then(() => (isOver = true));
    for (let step = 0; step < 20; step += 1) await new Promise<void>((resolve) => process.nextTick(resolve));
    expect(isOver).toBe(false);
    await waiting;
  });

  it('comes again in the next turn', async () => {
    const first = turnsEnd();
    await first;
    expect(turnsEnd()).not.toBe(first);
    await turnsEnd();
  });
});
