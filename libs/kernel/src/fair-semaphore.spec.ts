import fc from 'fast-check';
import { FairSemaphore } from './fair-semaphore';

/** Work that runs until it is let go. */
const works = (semaphore: FairSemaphore) => {
  const running: string[] = [];
  const begin = (name: string, owner: string, size: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const ended = semaphore.run(owner, size, async () => {
      running.push(name);
      await promise.finally(() => running.splice(running.indexOf(name), 1));
    });
    return { ended, end: resolve, fail: reject };
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { running, begin, settled };
};

describe('a fair semaphore', () => {
  it('is taken by one owner as far as their part goes, in the order of the calls', async () => {
    const { running, begin, settled } = works(new FairSemaphore(10, 4));
    const first = begin('a1', 'a', 3);
    begin('a2', 'a', 2);
    begin('b', 'b', 4);
    await settled();
    expect(running).toEqual(['a1', 'b']);
    first.end();
    await settled();
    expect(running).toEqual(['b', 'a2']);
  });

  it('is kept for who came first where there is too little for all', async () => {
    const { running, begin, settled } = works(new FairSemaphore(10, 8));
    const [first] = [begin('a', 'a', 8), begin('b', 'b', 8), begin('c', 'c', 2)];
    await settled();
    expect(running).toEqual(['a']);
    first.fail(new Error('Failed.'));
    await expect(first.ended).rejects.toThrow('Failed.');
    await settled();
    expect(running).toEqual(['b', 'c']);
  });

  it('is taken at once or not at all by who does without it, and not before those who wait', async () => {
    const semaphore = new FairSemaphore(10, 6);
    const { running, begin, settled } = works(semaphore);
    const give = semaphore.tryAcquire('a', 4);
    expect(give).toBeDefined();
    expect(semaphore.tryAcquire('a', 3)).toBeUndefined();
    expect(semaphore.tryAcquire('b', 8)).toBeDefined();
    expect(semaphore.tryAcquire('c', 1)).toBeUndefined();
    const waiting = begin('c', 'c', 5);
    give?.();
    await settled();
    expect(semaphore.tryAcquire('d', 1)).toBeUndefined();
    expect(running).toEqual([]);
    const next = begin('a', 'a', 1);
    waiting.end();
    next.end();
  });

  it('is given for what is larger than all of a part', async () => {
    expect(await new FairSemaphore(2, 1).run('a', 100, async () => 'done')).toBe('done');
  });

  it('is never taken twice, and is all there in the end', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat({ max: 9 })), { maxLength: 30 }),
        async (calls) => {
          const semaphore = new FairSemaphore(10, 6);
          const held = new Map<string, number>();
          const sum = () => [...held.values()].reduce((all, each) => all + each, 0);
          await Promise.all(
            calls.map(([owner, size]) =>
              semaphore.run(owner, size, async () => {
                held.set(owner, (held.get(owner) ?? 0) + Math.min(size, 6));
                expect(held.get(owner)).toBeLessThanOrEqual(6);
                expect(sum()).toBeLessThanOrEqual(10);
                await new Promise((resolve) => setImmediate(resolve));
                held.set(owner, (held.get(owner) ?? 0) - Math.min(size, 6));
              }),
            ),
          );
          expect(sum()).toBe(0);
        },
      ),
      { numRuns: 50 },
    ));
});
