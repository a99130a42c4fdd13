/** Concurrent questions: a caller that arrives during one need not wait for its answer. */
const MOST_UNDER_WAY = 2;
/** After this many milliseconds, new callers no longer wait for running questions before theirs begins. */
const TIMEOUT_MS = 250;
/**
 * After a question that several callers shared, new callers are collected for this many milliseconds: one question for
 * many costs less.
 */
const GATHERED_MS = 1;

/**
 * A question that many callers have at the same time. Each gets the answer to a question that began after its call;
 * waiting callers share it.
 */
export class SharedQuestion {
  private readonly underWay = new Set<Promise<void>>();
  private next: Promise<void> | undefined;
  /** Callers that share the next question. */
  private sharing = 0;
  private wasShared = false;

  constructor(private readonly question: () => Promise<void>) {}

  ask(): Promise<void> {
    this.sharing += 1;
    return (this.next ??= this.begin());
  }

  /** As `ask`, by the question asked last if it is under way, though that was before the call. */
  join(): Promise<void> {
    return [...this.underWay].at(-1) ?? this.ask();
  }

  private async begin(): Promise<void> {
    if (this.underWay.size >= MOST_UNDER_WAY) await this.oneOver();
    else if (this.wasShared) await new Promise((resolve) => setTimeout(resolve, GATHERED_MS));
    // Answer callers of the same turn of the event loop together.
    else await new Promise(setImmediate);
    this.next = undefined;
    this.wasShared = this.sharing > 1;
    this.sharing = 0;
    const asked = this.question();
    this.underWay.add(asked);
    try {
      await asked;
    } finally {
      this.underWay.delete(asked);
    }
  }

  private async oneOver(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, TIMEOUT_MS)));
    // The callers get the error; here the question only has to be over.
    await Promise.race([...this.underWay, late]).catch(() => undefined);
    clearTimeout(timer);
  }
}
