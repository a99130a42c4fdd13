/**
 * A map that keeps the entries used last, up to a capacity: a number of entries, or of whatever `weigh` counts. It holds them in
 * two generations and forgets the older one as a whole when the younger one has grown to half the capacity: forgetting single
 * entries of a large `Map` is slow in V8.
 */
export class LruCache<Key, Value> {
  private young = new Map<Key, Value>();
  private old = new Map<Key, Value>();
  private weight = 0;

  constructor(
    private readonly capacity: number,
    private readonly weigh: (value: Value) => number = () => 1,
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
    this.weight += this.weigh(value) - (before === undefined ? 0 : this.weigh(before));
    this.young.set(key, value);
    if (this.weight < this.capacity / 2) return;
    this.old = this.young;
    this.young = new Map();
    this.weight = 0;
  }

  delete(key: Key): void {
    const before = this.young.get(key);
    if (before !== undefined) this.weight -= this.weigh(before);
    this.young.delete(key);
    this.old.delete(key);
  }

  clear(): void {
    this.young.clear();
    this.old.clear();
    this.weight = 0;
  }
}
