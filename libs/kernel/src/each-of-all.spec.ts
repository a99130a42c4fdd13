import { eachOfAll, Unavailable } from '.';

describe('eachOfAll', () => {
  const doing = (work: (item: number) => boolean | void) => {
    const done: number[] = [];
    const all = eachOfAll([1, 2, 3], async (item) => {
      done.push(item);
      return work(item);
    });
    return { all, done };
  };

  it('goes on behind one that fails, and then says why', async () => {
    const { all, done } = doing((item) => {
      if (item < 3) throw new Error(`number ${item}`);
    });
    await expect(all).rejects.toThrow('number 1');
    expect(done).toEqual([1, 2, 3]);
  });

  it('ends where a store is away', async () => {
    const { all, done } = doing(() => {
      throw new Unavailable('blobs', 'no answer');
    });
    await expect(all).rejects.toThrow(Unavailable);
    expect(done).toEqual([1]);
  });

  it('ends where the work says so', async () => {
    const { all, done } = doing((item) => item < 2);
    await all;
    expect(done).toEqual([1, 2]);
  });
});
