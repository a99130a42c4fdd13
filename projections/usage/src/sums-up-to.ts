import type { Position } from '@app/kernel';
import type { Projecting } from '@app/projecting';
import { DAYS, QUARTERS, type Spans } from './usage-parts';

/** How long the views of sums are waited for: without them every record is read. */
const SUMS_MS = 500;
const SUMS: readonly Spans[] = [DAYS, QUARTERS];

/** The views of sums of calls, the longest spans first, where all show everything up to a position and lack no record; else none. */
export const sumsUpTo = async (
  projecting: Pick<Projecting, 'waitFor' | 'deadLetters'>,
  position: Position,
): Promise<readonly Spans[]> => {
  const reached = await Promise.all(SUMS.map(({ view }) => projecting.waitFor(view, position, SUMS_MS)));
  if (reached.includes(false)) return [];
  const lacking = new Set((await projecting.deadLetters()).map(({ name }) => name));
  return SUMS.some(({ view }) => lacking.has(view)) ? [] : SUMS;
};
