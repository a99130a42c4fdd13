/** Wakes a waiting caller. A ring before the wait counts. */
export class Bell {
  /** Whether it rang since it was reset. */
  isRung = false;
  private error: { readonly cause: unknown } | undefined;
  private wake: (() => void) | undefined;
  private timer: NodeJS.Timeout | undefined;
  private milliseconds: number | undefined;

  reset(): void {
    this.isRung = false;
    this.error = undefined;
  }

  ring(): void {
    this.isRung = true;
    this.wake?.();
  }

  break(cause: unknown): void {
    this.error = { cause };
    this.ring();
  }

  /** True if rung, false if the time is up. Throws what broke it. */
  async wait(milliseconds: number | undefined): Promise<boolean> {
    if (!this.isRung) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        this.limit(milliseconds);
      });
      this.wake = undefined;
    }
    if (this.error !== undefined) throw this.error.cause;
    return this.isRung;
  }

  /** Waits no more. */
  end(): void {
    clearTimeout(this.timer);
  }

  /** One timer for all waits of a length: frequent rings would otherwise create and drop as many timers. */
  private limit(milliseconds: number | undefined): void {
    if (milliseconds !== undefined && this.milliseconds === milliseconds) return void this.timer?.refresh();
    clearTimeout(this.timer);
    this.milliseconds = milliseconds;
    if (milliseconds !== undefined) this.timer = setTimeout(() => this.wake?.(), milliseconds);
  }
}
