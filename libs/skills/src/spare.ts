/**
 * One thing that takes long to start, kept for whoever needs the next: it is taken away, and given back or not. What nobody took for
 * a while is ended, so that nothing is held at rest.
 */
export class Spare<T extends object> {
  private kept: { readonly spare: T; readonly late: NodeJS.Timeout } | undefined;

  /** `keptMs`: after so many milliseconds it is ended. */
  constructor(
    private readonly end: (spare: T) => void,
    private readonly keptMs: number,
  ) {}

  /** Undefined where there is none. */
  take(): T | undefined {
    const { kept } = this;
    if (kept === undefined) return undefined;
    clearTimeout(kept.late);
    this.kept = undefined;
    return kept.spare;
  }

  /** Keeps one; ends it where there is one. */
  keep(spare: T): void {
    if (this.kept !== undefined) return this.end(spare);
    this.kept = { spare, late: setTimeout(() => this.clear(), this.keptMs).unref() };
  }

  get isThere(): boolean {
    return this.kept !== undefined;
  }

  /** Forgets one that ended by itself. */
  forget(spare: T): void {
    if (this.kept?.spare === spare) this.take();
  }

  /** Ends what is kept. */
  clear(): void {
    const spare = this.take();
    if (spare !== undefined) this.end(spare);
  }
}
