import type { EventLog } from '@app/event-log';
import type { Clock, Position } from '@app/kernel';
import type { Ordinals } from './ordinals';

export interface Lag {
  readonly head: Position | null;
  readonly lagEvents: number;
  /** Age of the oldest event that is not handled, seconds. */
  readonly lagSeconds: number;
}

/** How far a position is behind the end of the log. */
export const lagOf = async (position: Position | null, log: EventLog, ordinals: Ordinals, clock: Clock): Promise<Lag> => {
  const head = await log.head();
  if (head === null || (position !== null && position >= head)) return { head, lagEvents: 0, lagSeconds: 0 };
  const [all, handled, page] = await Promise.all([ordinals.head(), position === null ? 0 : ordinals.ordinalAt(position), log.readAll({ after: position, limit: 1 })]);
  const [oldest] = page.events;
  const recordedAt = oldest === undefined ? Number.NaN : Date.parse(String((JSON.parse(oldest.metadata) as Record<string, unknown>)['recordedAt']));
  // Events that carry no time of ours have no age.
  const lagSeconds = Number.isNaN(recordedAt) ? 0 : Math.max(0, (clock.now().getTime() - recordedAt) / 1_000);
  return { head, lagEvents: Math.max(0, all - handled), lagSeconds };
};
