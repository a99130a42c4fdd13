import type { Clock, Json } from '@app/kernel';
import type { ReadStore } from '@app/read-store';
import { errorName, type Logger } from './logger';

/** A holder that has not been heard of for this long is dead. */
const LEASE_MS = 10_000;

export interface LeaseOptions {
  readonly store: ReadStore;
  /** What is led: one leader each. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onTaken: (fence: number) => Promise<void>;
  readonly onLost: () => Promise<void>;
  readonly leaseMs?: number;
}

/**
 * Leads by the rule "who starts last, leads": taking the lease raises its fence, and every write carries the fence, so the
 * holder before is refused from then on and stands by. It takes over again when the holder's beat has stopped for the
 * length of the lease. A restart after a crash therefore waits for nobody.
 */
export class Lease {
  private readonly key: string;
  private readonly leaseMs: number;
  private timer: NodeJS.Timeout | undefined;
  private held: { readonly fence: number; readonly beat: number } | undefined;
  private seen: { readonly text: string; readonly since: number } | undefined;
  private ticking = false;

  constructor(private readonly options: LeaseOptions) {
    this.key = `lease/${options.name}`;
    this.leaseMs = options.leaseMs ?? LEASE_MS;
  }

  get holding(): boolean {
    return this.held !== undefined;
  }

  /** Takes the lease now and keeps it, or stands by, until `stop`. */
  async start(): Promise<void> {
    await this.take();
    this.timer = setInterval(() => void this.tick(), this.leaseMs / 4).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    if (this.held !== undefined) await this.lose();
  }

  /** A write was refused, or a beat was: somebody else leads. */
  async lose(): Promise<void> {
    if (this.held === undefined) return;
    this.held = undefined;
    this.seen = undefined;
    await this.options.onLost();
  }

  private async tick(): Promise<void> {
    if (this.ticking) return;
    this.ticking = true;
    try {
      await (this.held === undefined ? this.standBy() : this.beat(this.held));
    } catch (error) {
      this.options.logger.warn({ lease: this.options.name, error: errorName(error) }, 'the lease could not be kept up; trying again');
    } finally {
      this.ticking = false;
    }
  }

  private async beat(held: { readonly fence: number; readonly beat: number }): Promise<void> {
    const next = { fence: held.fence, beat: held.beat + 1 };
    if (await this.options.store.writeState(this.key, next, { expected: held })) this.held = next;
    else {
      this.options.logger.warn({ lease: this.options.name, fence: held.fence }, 'another process leads now');
      await this.lose();
    }
  }

  private async standBy(): Promise<void> {
    const text = JSON.stringify(await this.options.store.readState(this.key));
    if (this.seen?.text !== text) this.seen = { text, since: performance.now() };
    else if (performance.now() - this.seen.since >= this.leaseMs) await this.take();
  }

  private async take(): Promise<void> {
    for (;;) {
      const present = (await this.options.store.readState(this.key)) as { readonly fence: number } | undefined;
      // From the clock too, so that the fence still rises when the store of leases is lost and the views are not.
      const held = { fence: Math.max((present?.fence ?? 0) + 1, this.options.clock.now().getTime()), beat: 0 };
      if (!(await this.options.store.writeState(this.key, held, { expected: present as Json | undefined }))) continue;
      this.held = held;
      this.options.logger.info({ lease: this.options.name, fence: held.fence }, 'leading');
      try {
        return await this.options.onTaken(held.fence);
      } catch (error) {
        this.held = undefined;
        throw error;
      }
    }
  }
}
