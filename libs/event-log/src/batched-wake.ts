/** Who appended goes on before those who follow, also behind what it asks of another server next: a call of a model whose limit was held. */
const WAKE_AFTER_MS = 1;
/** Where commit follows commit, those who follow are told of several at once: each time costs a commit of each view. */
const BATCH_MS = 10;

/** Tells those who follow a log that events were appended: a moment later, or of many together. */
export class BatchedWake {
  private waking: NodeJS.Timeout | undefined;
  /** When it wakes them next, or did last; by this process's steady clock. */
  private wakesAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly wake: () => void) {}

  onAppended(): void {
    if (this.waking === undefined) this.wakeIn(Math.max(WAKE_AFTER_MS, this.wakesAt + BATCH_MS - performance.now()));
  }

  /** Somebody waits for those who follow: what was appended is not batched any longer. */
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
