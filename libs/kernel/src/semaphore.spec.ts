import { Semaphore } from './concurrency';

const held = () => Promise.withResolvers<string>();

describe('Semaphore', () => {
  it('runs so much at once, the others in the order of asking, also behind work that fails', async () => {
    const semaphore = new Semaphore(2);
    const works = [held(), held(), held(), held()];
    const begun: number[] = [];
    const runs = works.map(({ promise }, index) => semaphore.run(() => (begun.push(index), promise)));
    expect(begun).toEqual([0, 1]);
    works[1]?.reject(new Error('broken'));
    await expect(runs[1]).rejects.toThrow('broken');
    expect(begun).toEqual([0, 1, 2]);
    works[0]?.resolve('first');
    expect(await runs[0]).toBe('first');
    for (const work of works) work.resolve('done');
    expect(await Promise.all([runs[2], runs[3]])).toEqual(['done', 'done']);
    expect(await semaphore.run(async () => 'later')).toBe('later');
  });

  it('does not run what was called off before its turn', async () => {
    const semaphore = new Semaphore(1);
    const [first, left] = [held(), new AbortController()];
    const running = semaphore.run(() => first.promise);
    const work = jest.fn(async () => 'never');
    const waiting = semaphore.run(work, left.signal);
    left.abort(new Error('left'));
    first.resolve('done');
    await expect(waiting).rejects.toThrow('left');
    expect([await running, work.mock.calls]).toEqual(['done', []]);
    expect(await semaphore.run(async () => 'next')).toBe('next');
  });
});
