import type { Position } from '@app/kernel';

/** Injection token of the `ViewWaiter`. */
export const VIEW_WAITER = Symbol('ViewWaiter');

/** How long a write waits for its views, and a read for `x-read-after`. */
export const VIEW_WAIT_MS = 2_000;

/** Read your own writes: resolves true when the view has reached the position, false after `ms`. */
export interface ViewWaiter {
  waitFor(view: string, position: Position, ms: number): Promise<boolean>;
}

/** Waits for several views at once; true when all have reached the position. */
export const reached = async (waiter: ViewWaiter, views: readonly string[], position: Position): Promise<boolean> =>
  (await Promise.all(views.map((view) => waiter.waitFor(view, position, VIEW_WAIT_MS)))).every(Boolean);
