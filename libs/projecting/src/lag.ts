import type { EventLog } from '@app/event-log';
import { type Clock, type Position, storedMeta } from '@app/kernel';
import type { Ordinals } from './ordinals';

/** How far a reader is behind the log; `head` is null for an empty log. */
export interface Lag {
  readonly head: Position | null;
  /** Null where the log is not sealed so far, so that nobody has counted it. */
  readonly lagEvents: number | null;
  /** Age of the oldest event that is not handled, seconds. */
  readonly lagSeconds: number;
}

/** The oldest event is searched in this many pages: any number of foreign events may come before it. */
const MOST_PAGES = 5;
const PAGE = 500;

/** How far a position is behind the end of the log. */
export const lagOf = async (
  position: Position | null,
  log: EventLog,
  ordinals: Ordinals,
  clock: Clock,
): Promise<Lag> => {
  const head = await log.head();
  if (head === null || (position !== null && position >= head)) return { head, lagEvents: 0, lagSeconds: 0 };
  const [all, handled, oldest] = await Promise.all([
    ordinals.head(),
    position === null ? 0 : ordinals.ordinalAt(position),
    oldestAfter(log, position),
  ]);
  // Events that carry no time of ours have no age.
  const lagSeconds = Number.isNaN(oldest) ? 0 : Math.max(0, (clock.now().getTime() - oldest) / 1_000);
  return { head, lagEvents: all === null || handled === null ? null : Math.max(0, all - handled), lagSeconds };
};

/**
 * The time of the first event after a position, milliseconds since 1970; if too many foreign events come before it, the
 * time of the last of these.
 */
const oldestAfter = async (log: EventLog, position: Position | null): Promise<number> => {
  let passed = Number.NaN;
  for (let after = position, read = 0, limit = 1; read < MOST_PAGES; read += 1, limit = PAGE) {
    const page = await log.readAll({ after, limit, withForeign: true });
    const [oldest] = page.events;
    if (oldest !== undefined) return Date.parse(storedMeta(oldest.metadata)['recordedAt'] ?? '');
    passed = Date.parse(page.foreign?.at(-1)?.at ?? '');
    if (page.end) break;
    after = page.next;
  }
  return passed;
};
