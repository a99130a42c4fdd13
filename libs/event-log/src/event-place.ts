import type { Position } from '@app/kernel';
import { type EventLog, lastBefore } from './event-log';

/** An event and its place: a position alone does not identify a log. */
export type EventPlace = {
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: Position;
};

/** The last event of a log; null where it is empty. */
export const lastPlace = async (log: Pick<EventLog, 'readAll'>): Promise<EventPlace | null> => {
  const page = await log.readAll({ direction: 'backwards', limit: 1 });
  const found = page.events[0] ?? (page.end || page.next === null ? undefined : await lastBefore(log, page.next));
  return found === undefined ? null : placeOf(found);
};

/** Where an event stands. */
export const placeOf = ({ id, stream, revision, position }: EventPlace): EventPlace => ({
  id,
  stream,
  revision,
  position,
});

/** Whether the log holds that event there. */
export const holdsPlace = async (
  log: Pick<EventLog, 'readStream'>,
  { id, stream, revision, position }: EventPlace,
): Promise<boolean> => {
  const [event] = await log.readStream(stream, { from: revision, limit: 1 });
  return event?.id === id && event.position === position;
};
