/**
 * A pool of at most one idle resource that takes long to start, kept for whoever needs the next: it is taken, and given back or not. What nobody took for
 * a while is ended, so that nothing is held at rest.
 */
export class IdlePool<T extends object> {
  private kept: { readonly idle: T; readonly late: NodeJS.Timeout } | undefined;

  /** `idleMs`: after so many milliseconds it is ended. */
  constructor(
    private readonly end: (idle: T) => void,
    private readonly idleMs: number,
  ) {}

  /** Undefined where there is none. */
  take(): T | undefined {
    const { kept } = this;
    if (kept === undefined) return undefined;
    clearTimeout(kept.late);
    this.kept = undefined;
    return kept.idle;
  }

  /** Keeps one; ends it where there is one. */
  keep(idle: T): void {
    if (this.kept !== undefined) return this.end(idle);
    this.kept = { idle, late: setTimeout(() => this.clear(), this.idleMs).unref() };
  }

  get hasIdle(): boolean {
    return this.kept !== undefined;
  }

  /** Forgets one that ended by itself. */
  forget(idle: T): void {
    if (this.kept?.idle === idle) this.take();
  }

  /** Ends what is kept. */
  clear(): void {
    const idle = this.take();
    if (idle !== undefined) this.end(idle);
  }
}
