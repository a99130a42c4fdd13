import { Queues } from './concurrency';

const work = () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { run: jest.fn(() => promise), resolve };
};
const turns = () => new Promise(setImmediate);

describe('work in a queue', () => {
  it('runs one at a time, in the order of asking, and beside that of other queues', async () => {
    const queues = new Queues();
    const [first, second, third, other] = [work(), work(), work(), work()];
    const results = [
      queues.run('a', 60_000, first.run),
      queues.run('a', 60_000, second.run),
      queues.run('a', 60_000, third.run),
      queues.run('b', 60_000, other.run),
    ];
    const begun = () => [first, second, third, other].map(({ run }) => run.mock.calls.length);
    await turns();
    expect(begun()).toEqual([1, 0, 0, 1]);
    first.resolve('first');
    await turns();
    expect(begun()).toEqual([1, 1, 0, 1]);
    for (const one of [second, third, other]) one.resolve('done');
    expect(await Promise.all(results)).toEqual(['first', 'done', 'done', 'done']);
  });

  it('goes on behind work that fails', async () => {
    const queues = new Queues();
    const failed = queues.run('a', 60_000, () => Promise.reject(new Error('away')));
    const next = queues.run('a', 60_000, async () => 'next');
    await expect(failed).rejects.toThrow('away');
    expect(await next).toBe('next');
  });

  it('is not held up for longer than it has patience, and who comes later waits for all', async () => {
    const queues = new Queues();
    const [endless, last] = [work(), work()];
    const first = queues.run('a', 60_000, endless.run);
    expect(await queues.run('a', 10, async () => 'in time')).toBe('in time');
    const third = queues.run('a', 60_000, last.run);
    await turns();
    expect(last.run).not.toHaveBeenCalled();
    endless.resolve('at last');
    last.resolve('last');
    expect([await first, await third]).toEqual(['at last', 'last']);
  });
});
