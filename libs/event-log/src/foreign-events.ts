import type { StoredEvent } from '@app/kernel';
import type { ForeignEvent, LogPage } from './event-log';

/** Everything in a page that was read forwards, in the order of the log. */
export function* inLogOrder({
  events,
  foreign = [],
}: Pick<LogPage, 'events' | 'foreign'>): Generator<StoredEvent | ForeignEvent> {
  let next = 0;
  for (const theirs of foreign) {
    for (let ours = events[next]; ours !== undefined && ours.position < theirs.position; ours = events[next]) {
      yield ours;
      next += 1;
    }
    yield theirs;
  }
  yield* events.slice(next);
}

export const isForeignEvent = (event: StoredEvent | ForeignEvent): event is ForeignEvent => 'isNamedAsOurs' in event;
