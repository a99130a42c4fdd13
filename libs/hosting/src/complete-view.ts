import { type Position, Unavailable } from '@app/kernel';
import type { Projecting } from '@app/projecting';

/** How long a view is waited for. */
const VIEW_MS = 30_000;

/**
 * Resolves when it can be told from a view that something is not there: it shows the whole log up to a position. Throws `Unavailable`
 * where it will do so later, and another error where dead letters must be solved first: a reaction becomes one itself then,
 * to be retried after them.
 */
export const viewComplete = async (
  projecting: Pick<Projecting, 'gap'>,
  view: string,
  position: Position,
  waitMs = VIEW_MS,
): Promise<void> => {
  const gap = await projecting.gap(view, position, waitMs);
  if (gap === undefined) return;
  if (gap.passes) throw new Unavailable(`the view ${view}`, gap.reason);
  throw new Error(`the view ${view} is incomplete: ${gap.reason}, then retry this`);
};
