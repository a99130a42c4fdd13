/** A server is slow if a read or an append is unanswered for this many milliseconds. */
export const SLOW_MS = 1_500;

/** Counts who waits for a server, and how long it has been silent. Times by `performance.now()`. */
export class Pulse {
  /** When the server was last heard. */
  heardAt = -Infinity;
  private waiting = 0;
  private quietSince: number | undefined;

  /** Milliseconds since the last sign of the server, or since the first call after it; 0 without such a call. */
  get silence(): number {
    return this.quietSince === undefined ? 0 : performance.now() - this.quietSince;
  }

  asked(): void {
    this.waiting += 1;
    this.quietSince ??= performance.now();
  }

  /** Notes any sign of the server: an answer, part of one, or an event of a subscription. */
  heard(): void {
    this.heardAt = performance.now();
    this.quietSince = this.waiting > 0 ? this.heardAt : undefined;
  }

  /** Notes that somebody stops waiting. Giving up is no sign of the server. */
  ended(): void {
    this.waiting -= 1;
    if (this.waiting === 0 && this.quietSince === this.heardAt) this.quietSince = undefined;
  }

  /** Starts over: another server is used, or none. */
  reset(): void {
    this.quietSince = this.waiting > 0 ? performance.now() : undefined;
  }
}
