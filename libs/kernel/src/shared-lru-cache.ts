/**
 * The capacity that caches share: a number of entries, or of their weights. When the younger generations fill half of
 * it, all caches drop their older one. A cache that nobody uses leaves its share to the others.
 */
export class SharedCapacity {
  private weight = 0;
  private readonly filled = new Set<{ turn(): boolean }>();

  constructor(private readonly capacity: number) {}

  /** Says that a cache holds more, or less. */
  grow(cache: { turn(): boolean }, by: number): void {
    this.filled.add(cache);
    this.weight += by;
    if (this.weight < this.capacity / 2) return;
    this.weight = 0;
    for (const each of this.filled) if (!each.turn()) this.filled.delete(each);
  }
}

/**
 * The capacity for log and views in a process, in characters of one or two bytes each, or in the weight of other
 * values.
 */
export const REMEMBERED = new SharedCapacity(32 * 1024 * 1024);

/**
 * A map that keeps the most recently used entries in a capacity shared with other maps. It has two generations and
 * drops the older one as a whole. Our own: `lru-cache`, which caches with their own capacity use, bounds each cache
 * by itself.
 */
export class SharedLruCache<Key, Value> {
  private young = new Map<Key, Value>();
  private old = new Map<Key, Value>();
  private weight = 0;

  constructor(
    private readonly capacity: SharedCapacity,
    private readonly weigh: (value: Value) => number,
  ) {}

  get(key: Key): Value | undefined {
    const value = this.young.get(key);
    if (value !== undefined) return value;
    const older = this.old.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: Key, value: Value): void {
    const before = this.young.get(key);
    this.young.set(key, value);
    this.grow(this.weigh(value) - (before === undefined ? 0 : this.weigh(before)));
  }

  delete(key: Key): void {
    const before = this.young.get(key);
    this.young.delete(key);
    this.old.delete(key);
    if (before !== undefined) this.grow(-this.weigh(before));
  }

  clear(): void {
    this.young.clear();
    this.old.clear();
    this.grow(-this.weight);
  }

  /** Drops entries that were not used since the last call. False if nothing is left. The capacity calls it. */
  turn(): boolean {
    this.old = this.young;
    this.young = new Map();
    this.weight = 0;
    return this.old.size > 0;
  }

  private grow(by: number): void {
    this.weight += by;
    this.capacity.grow(this, by);
  }
}
