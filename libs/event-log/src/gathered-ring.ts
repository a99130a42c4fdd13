/** Who appended goes on before those who follow, also behind what it asks of another server next: a call of a model whose limit was held. */
const RING_AFTER_MS = 1;
/** Where commit follows commit, those who follow are told of several at once: each time costs a commit of each view. */
const GATHERED_MS = 10;

/** Tells those who follow a log that events were appended: a moment later, or of many together. */
export class GatheredRing {
  private ringing: NodeJS.Timeout | undefined;
  /** When it rings next, or rang last; by this process's steady clock. */
  private ringsAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly ring: () => void) {}

  onAppended(): void {
    if (this.ringing === undefined)
      this.ringIn(Math.max(RING_AFTER_MS, this.ringsAt + GATHERED_MS - performance.now()));
  }

  /** Somebody waits for those who follow: what was appended is not gathered any longer. */
  hurry(): void {
    if (this.ringing === undefined || this.ringsAt - performance.now() <= RING_AFTER_MS) return;
    clearTimeout(this.ringing);
    this.ringIn(RING_AFTER_MS);
  }

  private ringIn(milliseconds: number): void {
    this.ringsAt = performance.now() + milliseconds;
    this.ringing = setTimeout(() => {
      this.ringing = undefined;
      this.ring();
    }, milliseconds);
  }
}
