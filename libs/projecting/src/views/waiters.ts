import { afterWaiting, type Position } from '@app/kernel';

interface Waiter {
  readonly position: Position;
  readonly settle: (reached: boolean) => void;
}

/** Those who wait for a view to show a position. */
export class Waiters {
  private readonly waiting = new Set<Waiter>();
  private reached: Position | null = null;

  /** The view shows everything up to here. May go back, when another build of the view is served. */
  advance(position: Position | null): void {
    this.reached = position;
    for (const waiter of this.waiting) if (this.shows(waiter.position)) waiter.settle(true);
  }

  /** Whether nobody would have to wait for the position. */
  shows(position: Position): boolean {
    return position === '' || (this.reached !== null && this.reached >= position);
  }

  /** True once the view shows the position, false when it does not within the time. */
  wait(position: Position, timeoutMs: number): Promise<boolean> {
    if (this.shows(position)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (reached: boolean): void => {
        found();
        this.waiting.delete(waiter);
        resolve(reached);
      };
      const waiter: Waiter = { position, settle };
      const found = afterWaiting(timeoutMs, () => settle(false));
      this.waiting.add(waiter);
    });
  }
}
