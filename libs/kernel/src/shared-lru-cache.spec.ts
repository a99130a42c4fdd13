import { SharedCapacity, SharedLruCache } from './shared-lru-cache';

const counted = <Key, Value>(capacity: number) => new SharedLruCache<Key, Value>(new SharedCapacity(capacity), () => 1);

describe('SharedLruCache', () => {
  it('keeps what was used last and forgets the rest', () => {
    const cache = counted<number, string>(100);
    cache.set(0, 'used again and again');
    for (let key = 1; key <= 1_000; key += 1) {
      cache.set(key, `value ${key}`);
      cache.get(0);
    }
    expect([cache.get(0), cache.get(1_000), cache.get(960), cache.get(800), cache.get(1)]).toEqual([
      'used again and again',
      'value 1000',
      'value 960',
      undefined,
      undefined,
    ]);
  });

  it('never holds more than its capacity, by weight', () => {
    const cache = new SharedLruCache<number, string>(new SharedCapacity(1_000), (value) => value.length);
    for (let key = 0; key < 200; key += 1) cache.set(key, 'x'.repeat(key % 50));
    const held = Array.from({ length: 200 }, (_, key) => cache.get(key)?.length ?? 0);
    expect(held.reduce((sum, length) => sum + length)).toBeLessThanOrEqual(1_000);
  });

  it('counts a value that is set again once', () => {
    const cache = counted<string, number>(10);
    cache.set('a', 1);
    for (let round = 0; round < 100; round += 1) cache.set('b', round);
    expect([cache.get('a'), cache.get('b')]).toEqual([1, 99]);
  });

  it('forgets what is deleted', () => {
    const cache = counted<string, number>(2);
    for (const key of ['a', 'b', 'c']) cache.set(key, 1);
    cache.delete('c');
    expect(cache.get('c')).toBeUndefined();
    cache.clear();
    expect(cache.get('b')).toBeUndefined();
  });

  it('holds no more than it shares with others, and gives up its part where it is not used', () => {
    const shared = new SharedCapacity(1_000);
    const [idle, busy] = [
      new SharedLruCache<number, string>(shared, (value) => value.length),
      new SharedLruCache<number, string>(shared, (value) => value.length),
    ];
    for (let key = 0; key < 40; key += 1) idle.set(key, 'x'.repeat(10));
    for (let key = 0; key < 200; key += 1) {
      busy.set(key, 'x'.repeat(10));
      busy.get(0);
    }
    const held = (cache: SharedLruCache<number, string>) =>
      [...Array(200).keys()].filter((key) => cache.get(key) !== undefined).length;
    expect(held(idle)).toBe(0);
    expect(busy.get(0)).toBeDefined();
    expect(held(busy) * 10).toBeLessThanOrEqual(1_000);
  });
});
