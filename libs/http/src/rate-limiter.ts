import { createHash } from 'node:crypto';
import type { CoordinationStore } from '@app/coordination';
import { beforeWork, type Clock, reject } from '@app/kernel';

const MINUTE_MS = 60_000;
/** A process takes up to so many parts of the minute's requests at once from what all share, so that most requests ask nobody. */
const PARTS = 50;
const PREFIX = 'rate/';

/** Requests of a credential in a minute of the clock that some process has taken for itself. */
type Taken = {
  readonly minute: number;
  readonly taken: number;
};

/** What this process may still admit, and in which minute. */
interface Left {
  readonly minute: number;
  left: number;
  /** All of the minute's requests were taken, here or elsewhere. */
  spent: boolean;
  /** Takes more; requests that come meanwhile wait for the same. */
  taking: Promise<void> | undefined;
}

/**
 * Counts the requests of each credential by the minute of the clock, over all processes that share a store. The limit
 * is never exceeded. It may be reached a few requests early: another process has reserved them and not used them.
 */
export class RateLimiter {
  private readonly left = new Map<string, Left>();
  private minute = 0;

  constructor(
    private readonly clock: Clock,
    /** Undefined: no limit. */
    private readonly perMinute: number | undefined,
    /** Where processes that share the work count together. */
    private readonly shared: Pick<CoordinationStore, 'read' | 'write'> | undefined,
  ) {}

  /** Rejects with `rate_limited` and `retryAfterSeconds` when the minute is used up. Throws `Unavailable` with the outcome `none`. */
  async take(credential: string): Promise<void> {
    if (this.perMinute === undefined) return;
    const present = this.present(credential);
    while (this.shared !== undefined && present.left === 0 && !present.spent)
      await (present.taking ??= this.takeMore(this.shared, credential, this.perMinute, present));
    this.use(present);
  }

  /** As `take` for callers who are not known yet, by their address. Addresses share 4,096 counters: whoever has many fills no store. */
  takeOfAddress(address: string): Promise<void> {
    return this.take(`address/${createHash('sha256').update(address).digest('hex').slice(0, 3)}`);
  }

  /** The same at once, where this process counts alone. */
  takeHere(credential: string): void {
    if (this.perMinute !== undefined) this.use(this.present(credential));
  }

  private use(present: Left): void {
    if (present.left <= 0)
      reject('rate_limited', {
        retryAfterSeconds: Math.ceil(((present.minute + 1) * MINUTE_MS - this.clock.now().getTime()) / 1_000),
      });
    present.left -= 1;
  }

  private present(credential: string): Left {
    const minute = Math.floor(this.clock.now().getTime() / MINUTE_MS);
    if (minute !== this.minute) this.left.clear();
    this.minute = minute;
    const known = this.left.get(credential) ?? {
      minute,
      left: this.shared === undefined ? (this.perMinute ?? 0) : 0,
      spent: false,
      taking: undefined,
    };
    this.left.set(credential, known);
    return known;
  }

  private async takeMore(
    store: Pick<CoordinationStore, 'read' | 'write'>,
    credential: string,
    perMinute: number,
    present: Left,
  ): Promise<void> {
    try {
      const share = await beforeWork(() => this.takeShare(store, credential, perMinute, present.minute));
      present.left += share;
      present.spent = share === 0;
    } finally {
      present.taking = undefined;
    }
  }

  private async takeShare(
    store: Pick<CoordinationStore, 'read' | 'write'>,
    credential: string,
    perMinute: number,
    minute: number,
  ): Promise<number> {
    for (;;) {
      const stored = (await store.read(PREFIX + credential)) as Taken | undefined;
      // A minute that another clock has begun already counts as this one.
      const taken = stored === undefined || stored.minute < minute ? 0 : stored.taken;
      const share = Math.min(Math.max(1, Math.floor(perMinute / PARTS)), perMinute - taken);
      if (share <= 0) return 0;
      const next: Taken = { minute: Math.max(minute, stored?.minute ?? minute), taken: taken + share };
      if (await store.write(PREFIX + credential, next, { expected: stored })) return share;
    }
  }
}
