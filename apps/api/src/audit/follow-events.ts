import type { Readable } from 'node:stream';
import type { EventLog } from '@app/event-log';
import { EventStream, type ResumePoint } from '@app/http';
import type { Position, StoredEvent } from '@app/kernel';

export interface FollowOptions extends ResumePoint {
  /** What is sent of a page of events, in their order; its position is the event's id, to go on from. */
  readonly show: (events: readonly StoredEvent[]) => Promise<readonly { readonly position: Position }[]>;
}

/** New events as Server-Sent Events, until the reader goes. A slow reader is waited for. */
export const followEvents = (log: EventLog, { after, isLost, show }: FollowOptions): Readable => {
  const stream = new EventStream();
  const subscription = log.subscribe({
    name: 'audit-follow',
    after,
    onRestored: (end) => stream.restored(end),
    onEvents: async (events) => {
      for (const shown of await show(events))
        if (!(await stream.send(shown.position, JSON.stringify(shown), 'event'))) return;
    },
  });
  void stream.gone.then(() => subscription.stop());
  stream.begin('following');
  if (isLost) void stream.restored(after);
  return stream.body;
};
