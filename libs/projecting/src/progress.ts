/** Weight of the newest interval in the rate. */
const WEIGHT = 0.3;

/** How far a build is and how fast it goes: a moving average over what is reported. */
export class Progress {
  done = 0;
  /** Events a second. */
  rate = 0;
  private reportedAt: number | undefined;

  constructor(private readonly now: () => number = () => performance.now()) {}

  at(done: number): void {
    const time = this.now();
    if (this.reportedAt !== undefined && time > this.reportedAt) {
      const present = ((done - this.done) * 1_000) / (time - this.reportedAt);
      this.rate = this.rate === 0 ? present : this.rate + WEIGHT * (present - this.rate);
    }
    this.done = done;
    this.reportedAt = time;
  }
}
