import { type Clock, refuse } from '@app/kernel';

const MINUTE_MS = 60_000;

/** Counts the requests of each credential in the clock's minute. */
export class RateLimiter {
  private readonly counts = new Map<string, number>();
  private minute = 0;

  constructor(
    private readonly clock: Clock,
    private readonly perMinute: number,
  ) {}

  /** Refuses with `rate_limited` and `retryAfterSeconds` when the minute is used up. */
  take(credential: string): void {
    const now = this.clock.now().getTime();
    const minute = Math.floor(now / MINUTE_MS);
    if (minute !== this.minute) this.counts.clear();
    this.minute = minute;
    const count = (this.counts.get(credential) ?? 0) + 1;
    this.counts.set(credential, count);
    if (count > this.perMinute) refuse('rate_limited', { retryAfterSeconds: Math.ceil(((minute + 1) * MINUTE_MS - now) / 1000) });
  }
}
