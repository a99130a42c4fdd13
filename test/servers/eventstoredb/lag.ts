import { seed, seededNumbers } from '../../faults/log/rounds';

/** How long the next write takes until it is shown and acknowledged, milliseconds. */
export type Lag = () => number;

export const noLag: Lag = () => 0;

/** Shows nothing until a test says so. */
export const endlessLag: Lag = () => 1_000_000;

/** Most milliseconds that a real server was seen to lag: 128 on 23.10.6, rounded up. */
const LONGEST = 150;
const USUAL = 10;
/** The share of writes that take no longer than `USUAL`. */
const USUALLY = 0.9;
const GRAIN = 1_000_000;

/** As on a real server: nine in ten are shown within 10 ms, the others within 150, the longest seldom. `SEED` repeats them. */
export const seededLag = (from = seed): Lag => {
  const next = seededNumbers(from);
  return () => {
    const drawn = next(GRAIN) / GRAIN;
    if (drawn < USUALLY) return (drawn / USUALLY) ** 3 * USUAL;
    return USUAL + ((drawn - USUALLY) / (1 - USUALLY)) ** 4 * (LONGEST - USUAL);
  };
};

/** Lets writes be shown in the order of the log, each when its time has come and not before those ahead of it. */
export class ShowingQueue {
  private readonly waiting: { readonly due: number; readonly show: () => void }[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly lag: Lag) {}

  get length(): number {
    return this.waiting.length;
  }

  add(show: () => void): void {
    this.waiting.push({ due: performance.now() + this.lag(), show });
    if (this.timer === undefined) this.run();
  }

  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const { show } of this.waiting.splice(0)) show();
  }

  private run(): void {
    this.timer = undefined;
    for (let [first] = this.waiting; first !== undefined; [first] = this.waiting) {
      const left = first.due - performance.now();
      if (left > 0) {
        this.timer = setTimeout(() => this.run(), left);
        return;
      }
      this.waiting.shift();
      first.show();
    }
  }
}
