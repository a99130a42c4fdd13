import { setImmediate as nextTurn } from 'node:timers/promises';
import { Turns } from './concurrency';

describe('going on a few in each turn', () => {
  it('lets so many callers go on in each turn of the event loop, in the order of their calls', async () => {
    const turns = new Turns(2);
    const gone: number[] = [];
    for (const caller of [1, 2, 3, 4, 5]) void turns.next().then(() => gone.push(caller));
    await Promise.resolve();
    expect(gone).toEqual([]);
    for (const expected of [
      [1, 2],
      [1, 2, 3, 4],
      [1, 2, 3, 4, 5],
    ]) {
      await nextTurn();
      expect(gone).toEqual(expected);
    }
  });

  it('begins anew when nobody waits any more', async () => {
    const turns = new Turns(1);
    await turns.next();
    await turns.next();
    await expect(Promise.all([turns.next(), turns.next()])).resolves.toHaveLength(2);
  });
});
