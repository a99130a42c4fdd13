import type { TokenUsage, UpstreamFailure } from '@app/models';
import type { CallRecord } from './call-record';

/**
 * A model call that may be repeated because its provider broke off: each attempt is a separate invocation with its own
 * reservation and bill.
 */
export class RepeatedCall {
  private readonly before: CallRecord[] = [];
  private current: CallRecord | undefined;

  /** `reserve`: reserves the cost of another call after the `first`; it may reject. */
  constructor(
    first: CallRecord,
    private readonly reserve: () => Promise<CallRecord>,
  ) {
    this.current = first;
  }

  /** One whose first call is held as each further one is. Rejects as `reserve` does. */
  static async begin(reserve: () => Promise<CallRecord>): Promise<RepeatedCall> {
    return new RepeatedCall(await reserve(), reserve);
  }

  /** The call under way. */
  get now(): CallRecord {
    if (this.current === undefined) throw new Error('no call is under way');
    return this.current;
  }

  /** Every call, the first one first. */
  get all(): readonly CallRecord[] {
    return this.current === undefined ? this.before : [...this.before, this.current];
  }

  /**
   * Bills the call that broke off, with the counted usage `seen`, and reserves another. Rejects like `reserve`: then no
   * call is running.
   */
  async again(failure: UpstreamFailure, seen: TokenUsage): Promise<void> {
    const broken = this.now;
    broken.failed(failure, seen);
    broken.settle();
    this.before.push(broken);
    this.current = undefined;
    this.current = await this.reserve();
  }

  /** Whoever called left on purpose. */
  stopped(): void {
    this.current?.stopped();
  }

  /** The call under way ended of `error`, if one is. */
  failed(error: unknown, seen: TokenUsage): void {
    this.current?.failed(error, seen);
  }

  /** To be called once, when all is over. */
  settle(): void {
    this.current?.settle();
  }
}
