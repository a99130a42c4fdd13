interface Waiting {
  readonly owner: string;
  readonly size: number;
  readonly begin: () => void;
}

/**
 * A semaphore that several owners share, of memory in bytes or of places: none takes all of it, whatever they ask for at once. Who finds too little
 * waits in the order of the calls; who waits for an own part keeps no other from theirs. Our own: the semaphore of `async-mutex` weighs
 * too, but has no owners, and one line in which the first keeps all others waiting.
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

  /** Takes so much of it if that is there now; gives what returns it, or undefined. For callers who do without it rather than wait. */
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
