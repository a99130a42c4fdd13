/** So many calls in a row must fail before a provider is left alone, */
const FAILURES = 10;
/** for so long; then one call tries it, and another one where that hangs for so long. */
const OPEN_MS = 5_000;

/** `open`: not asked. `half-open`: one call tries whether it is back. */
export type CircuitState = 'closed' | 'open' | 'half-open';

/**
 * Keeps calls from a provider that fails, so that callers wait for nothing and the provider can recover. Our own: `UpstreamCall`
 * says why, and this costs a call nothing that can be measured.
 */
export class CircuitBreaker {
  private failures = 0;
  private openedAt: number | undefined;
  private triedAt: number | undefined;

  /** `now` in milliseconds. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  get state(): CircuitState {
    if (this.openedAt === undefined) return 'closed';
    return this.waitMs === 0 ? 'half-open' : 'open';
  }

  /** Milliseconds until the provider is tried again; 0 where it may be called. */
  get waitMs(): number {
    return this.openedAt === undefined ? 0 : Math.max(0, this.openedAt + OPEN_MS - this.now());
  }

  /** Whether a call may be made. Each that may must end in `succeeded`, `failed` or `undecided`. */
  admit(): boolean {
    if (this.openedAt === undefined) return true;
    const now = this.now();
    if (this.waitMs > 0 || (this.triedAt !== undefined && now < this.triedAt + OPEN_MS)) return false;
    this.triedAt = now;
    return true;
  }

  succeeded(): void {
    this.failures = 0;
    this.openedAt = undefined;
    this.triedAt = undefined;
  }

  failed(): void {
    this.failures += 1;
    this.triedAt = undefined;
    if (this.failures >= FAILURES) this.openedAt = this.now();
  }

  /** The call says nothing about the provider: its caller left, or the request was rejected. */
  undecided(): void {
    this.triedAt = undefined;
  }
}
