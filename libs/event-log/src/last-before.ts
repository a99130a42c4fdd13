import type { Position, StoredEvent } from '@app/kernel';
import type { EventLog } from './event-log';

/** One event is asked for; where others write to the server too, theirs may lie before it. */
const FIRST_LOOK = 1;
const NEXT_LOOK = 500;

/** The last event before a position, looked for in at most so many pages; undefined when there is none. */
export const lastBefore = async (
  log: Pick<EventLog, 'readAll'>,
  position: Position,
  pages = Infinity,
): Promise<StoredEvent | undefined> => {
  let after: Position | null = position;
  for (let read = 0, limit = FIRST_LOOK; read < pages; read += 1, limit = NEXT_LOOK) {
    const page = await log.readAll({ direction: 'backwards', after, limit });
    if (page.events[0] !== undefined || page.end) return page.events[0];
    after = page.next;
  }
  return undefined;
};
