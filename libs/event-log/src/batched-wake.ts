/**
 * The appender continues before the followers wake, and so do the calls that it makes next, such as a call of a model
 * after its reservation.
 */
const WAKE_AFTER_MS = 1;
/** In a series of commits, followers are woken for several at once: each wake costs a commit of each view. */
const BATCH_MS = 10;

/** Wakes the followers of a log after appends: a moment later, or once for many. */
export class BatchedWake {
  private waking: NodeJS.Timeout | undefined;
  /** Time of the next or last wake, by this process's monotonic clock. */
  private wakesAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly wake: () => void) {}

  onAppended(): void {
    if (this.waking === undefined) this.wakeIn(Math.max(WAKE_AFTER_MS, this.wakesAt + BATCH_MS - performance.now()));
  }

  /** A caller waits for the followers: stop batching. */
  wakeNow(): void {
    if (this.waking === undefined || this.wakesAt - performance.now() <= WAKE_AFTER_MS) return;
    clearTimeout(this.waking);
    this.wakeIn(WAKE_AFTER_MS);
  }

  private wakeIn(milliseconds: number): void {
    this.wakesAt = performance.now() + milliseconds;
    this.waking = setTimeout(() => {
      this.waking = undefined;
      this.wake();
    }, milliseconds);
  }
}
