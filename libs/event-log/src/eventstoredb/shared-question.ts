/** Questions at a time: callers that come during one need not wait until it is answered. */
const MOST_UNDER_WAY = 2;
/** Milliseconds after which those who come do not wait for questions under way any more before theirs begins. */
const TIMEOUT_MS = 250;
/** Milliseconds for which those gather who come behind a question that several shared: one for many costs less than many. */
const GATHERED_MS = 1;

/** A question that many have at the same time. Each is answered by one that was asked after they came; those who wait share it. */
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
    // Those who asked are told of a question that fails; here it only has to be over.
    await Promise.race([...this.underWay, late]).catch(() => undefined);
    clearTimeout(timer);
  }
}
