/**
 * One thing that takes long to start, kept for whoever needs the next: it is taken away, and given back or not. What nobody took for
 * a while is ended, so that nothing is held at rest.
 */
export class Spare<T extends object> {
  private kept: { readonly thing: T; readonly late: NodeJS.Timeout } | undefined;

  /** `keptMs`: after so many milliseconds it is ended. */
  constructor(
    private readonly end: (thing: T) => void,
    private readonly keptMs: number,
  ) {}

  /** Undefined where there is none. */
  take(): T | undefined {
    const { kept } = this;
    if (kept === undefined) return undefined;
    clearTimeout(kept.late);
    this.kept = undefined;
    return kept.thing;
  }

  /** Keeps a thing; ends it where there is one. */
  keep(thing: T): void {
    if (this.kept !== undefined) return this.end(thing);
    this.kept = { thing, late: setTimeout(() => this.clear(), this.keptMs).unref() };
  }

  get isThere(): boolean {
    return this.kept !== undefined;
  }

  /** Forgets a thing that ended by itself. */
  forget(thing: T): void {
    if (this.kept?.thing === thing) this.take();
  }

  /** Ends what is kept. */
  clear(): void {
    const thing = this.take();
    if (thing !== undefined) this.end(thing);
  }
}
