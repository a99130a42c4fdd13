interface Waiting {
  readonly owner: string;
  readonly size: number;
  readonly begin: () => void;
}

/**
 * A semaphore for memory in bytes or for places that several owners share: no owner can take all of it. If too little
 * is free, callers wait in the order of their calls. A caller that waits for its owner's share does not block other
 * owners. Our own: the semaphore of `async-mutex` has weights too, but no owners, and only one queue, whose first
 * caller blocks all others.
 */
export class FairSemaphore {
  private taken = 0;
  private readonly ofOwners = new Map<string, number>();
  private waiting: Waiting[] = [];

  /** `mostOfOne`: the part of `most` that one owner may have, and as what any larger size counts. */
  constructor(
    private readonly most: number,
    private readonly mostOfOne: number,
  ) {}

  /** Runs work that takes so much of it until it ends. */
  async run<T>(owner: string, size: number, work: () => Promise<T>): Promise<T> {
    const asked = Math.min(size, this.mostOfOne);
    await new Promise<void>((begin) => {
      this.waiting.push({ owner, size: asked, begin });
      this.admit();
    });
    try {
      return await work();
    } finally {
      this.add(owner, -asked);
      this.admit();
    }
  }

  /**
   * Takes this much if it is free now, and returns a function that gives it back; otherwise undefined. For callers that
   * do not want to wait.
   */
  tryAcquire(owner: string, size: number): (() => void) | undefined {
    const asked = Math.min(size, this.mostOfOne);
    const isThere = (this.ofOwners.get(owner) ?? 0) + asked <= this.mostOfOne && this.taken + asked <= this.most;
    if (!isThere || this.waiting.length > 0) return undefined;
    this.add(owner, asked);
    return () => {
      this.add(owner, -asked);
      this.admit();
    };
  }

  private admit(): void {
    let isFull = false;
    this.waiting = this.waiting.filter(({ owner, size, begin }) => {
      if (isFull || (this.ofOwners.get(owner) ?? 0) + size > this.mostOfOne) return true;
      isFull = this.taken + size > this.most;
      if (isFull) return true;
      this.add(owner, size);
      begin();
      return false;
    });
  }

  private add(owner: string, size: number): void {
    const own = (this.ofOwners.get(owner) ?? 0) + size;
    this.taken += size;
    if (own > 0) this.ofOwners.set(owner, own);
    else this.ofOwners.delete(owner);
  }
}
