import { type Position, reject } from '@app/kernel';
import type { FastifyRequest } from 'fastify';
import { InvalidInput } from './invalid-input';
import { declarationOf } from './request';
import { markedPosition } from './stream-id';

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

/** Opaque, but as every log gives them: digits, so many that they order as text. */
const POSITION = /^\d{16,20}$/;

/** `x-read-after` on a read: waits, at most 2 s, until the views that it reads have reached that position. */
export const waitForReadAfter = async (views: ViewWaiter, request: FastifyRequest): Promise<void> => {
  const given = request.headers['x-read-after'];
  const { reads = [] } = declarationOf(request);
  if (given === undefined || reads.length === 0) return;
  // Readers of a stream send the id of an event, which was its position alone before.
  const position = typeof given === 'string' ? markedPosition(given).position : '';
  if (!POSITION.test(position)) {
    throw new InvalidInput('invalid_parameter', [
      { path: 'x-read-after', code: 'invalid_format', message: 'Must be a position from x-log-position.' },
    ]);
  }
  if (!(await reached(views, reads, position))) reject('view_unavailable');
};
