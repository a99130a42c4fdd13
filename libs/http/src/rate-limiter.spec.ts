import { Unavailable } from '@app/kernel';
import { FixedClock } from '../../../test/fixtures/fixed-clock';
import { MemoryCoordinationStore } from '../../../test/fixtures/memory-coordination-store';
import { RateLimiter } from './rate-limiter';

/** How many of `asked` requests are admitted. */
const admitted = async (limiters: readonly RateLimiter[], asked: number, credential = 'key:1'): Promise<number> => {
  const answers = await Promise.allSettled(
    Array.from({ length: asked }, (_, index) => (limiters[index % limiters.length] as RateLimiter).take(credential)),
  );
  return answers.filter(({ status }) => status === 'fulfilled').length;
};

describe('the limit of requests', () => {
  it('holds for one process, each credential for itself, and begins anew with the minute', async () => {
    const clock = new FixedClock();
    const limiter = new RateLimiter(clock, 5, undefined);
    expect(await admitted([limiter], 8)).toBe(5);
    expect(await admitted([limiter], 2, 'key:2')).toBe(2);
    expect(() => limiter.takeHere('key:1')).toThrow('rate_limited');
    clock.advance(60_000);
    limiter.takeHere('key:1');
    expect(await admitted([limiter], 8)).toBe(4);
  });

  it.each([5, 100, 1_000])('holds over processes: %i a minute', async (perMinute) => {
    const store = new MemoryCoordinationStore();
    const clock = new FixedClock();
    const limiters = [1, 2, 3].map(() => new RateLimiter(clock, perMinute, store));
    const total = await admitted(limiters, perMinute * 2);
    expect(total).toBeLessThanOrEqual(perMinute);
    expect(total).toBeGreaterThanOrEqual(perMinute * 0.95);
    await expect((limiters[0] as RateLimiter).take('key:1')).rejects.toMatchObject({
      code: 'rate_limited',
      facts: { retryAfterSeconds: 60 },
    });
    clock.advance(60_000);
    expect(await admitted(limiters, 3)).toBe(3);
  });

  it('that the store does not confirm lets nothing be done', async () => {
    const store = new MemoryCoordinationStore();
    store.write = () => Promise.reject(new Unavailable('coordination', 'no answer', 'unknown'));
    await expect(new RateLimiter(new FixedClock(), 5, store).take('key:1')).rejects.toMatchObject({ outcome: 'none' });
  });

  it('asks the store for many requests at once', async () => {
    const store = new MemoryCoordinationStore();
    let writes = 0;
    const counting = {
      read: store.read.bind(store),
      write: async (...args: Parameters<MemoryCoordinationStore['write']>) => ((writes += 1), store.write(...args)),
    };
    const limiter = new RateLimiter(new FixedClock(), 1_000, counting);
    for (let request = 0; request < 1_000; request += 1) await limiter.take('key:1');
    expect(writes).toBe(50);
  });

  it('counts a minute that another clock has begun as this one', async () => {
    const store = new MemoryCoordinationStore();
    const [slow, fast] = [new FixedClock(), new FixedClock()];
    fast.advance(60_000);
    expect(await admitted([new RateLimiter(fast, 10, store)], 10)).toBe(10);
    expect(await admitted([new RateLimiter(slow, 10, store)], 10)).toBe(0);
  });

  it('is none where none is set', async () => {
    expect(await admitted([new RateLimiter(new FixedClock(), undefined, new MemoryCoordinationStore())], 100)).toBe(
      100,
    );
  });
});
