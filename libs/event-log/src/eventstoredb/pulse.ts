/** Milliseconds after which a read or an append that was not answered makes the server slow. */
export const SLOW_MS = 1_500;

/** Who waits for the answer of a server, and since when nothing at all was heard of it. Times by `performance.now()`. */
export class Pulse {
  /** When something was last heard. */
  heardAt = -Infinity;
  private waiting = 0;
  private quietSince: number | undefined;

  /** Milliseconds since anything was heard, or since somebody asked; 0 where nobody has asked since. */
  get silence(): number {
    return this.quietSince === undefined ? 0 : performance.now() - this.quietSince;
  }

  asked(): void {
    this.waiting += 1;
    this.quietSince ??= performance.now();
  }

  /** Anything: an answer, a part of one, or what a subscription hands over. */
  heard(): void {
    this.heardAt = performance.now();
    this.quietSince = this.waiting > 0 ? this.heardAt : undefined;
  }

  /** Somebody waits no longer: they were answered, or gave up, which leaves the server as silent as it was. */
  ended(): void {
    this.waiting -= 1;
    if (this.waiting === 0 && this.quietSince === this.heardAt) this.quietSince = undefined;
  }

  /** Another server is spoken to, or none. */
  reset(): void {
    this.quietSince = this.waiting > 0 ? performance.now() : undefined;
  }
}
