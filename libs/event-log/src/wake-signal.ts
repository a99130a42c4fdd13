/** Wakes a waiting caller. A signal before the wait counts. */
export class WakeSignal {
  /** Whether it was woken since it was reset. */
  isWoken = false;
  private error: { readonly cause: unknown } | undefined;
  private resume: (() => void) | undefined;
  private timer: NodeJS.Timeout | undefined;
  private milliseconds: number | undefined;

  reset(): void {
    this.isWoken = false;
    this.error = undefined;
  }

  wake(): void {
    this.isWoken = true;
    this.resume?.();
  }

  break(cause: unknown): void {
    this.error = { cause };
    this.wake();
  }

  /** True if woken, false if the time is up. Throws what broke it. */
  async wait(milliseconds: number | undefined): Promise<boolean> {
    if (!this.isWoken) {
      await new Promise<void>((resolve) => {
        this.resume = resolve;
        this.limit(milliseconds);
      });
      this.resume = undefined;
    }
    if (this.error !== undefined) throw this.error.cause;
    return this.isWoken;
  }

  /** Waits no more. */
  end(): void {
    clearTimeout(this.timer);
  }

  /** One timer for all waits of a length: frequent signals would otherwise create and drop as many timers. */
  private limit(milliseconds: number | undefined): void {
    if (milliseconds !== undefined && this.milliseconds === milliseconds) return void this.timer?.refresh();
    clearTimeout(this.timer);
    this.milliseconds = milliseconds;
    if (milliseconds !== undefined) this.timer = setTimeout(() => this.resume?.(), milliseconds);
  }
}
