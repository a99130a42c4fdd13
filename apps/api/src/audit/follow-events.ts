import type { Readable } from 'node:stream';
import type { EventLog } from '@app/event-log';
import { EventStream, type ResumePoint, streamId, streamIdAt } from '@app/http';
import type { Position, StoredEvent } from '@app/kernel';

export interface FollowOptions extends ResumePoint {
  /** What is sent of a page of events, each at the position of its event. */
  readonly show: (events: readonly StoredEvent[]) => Promise<readonly { readonly position: Position }[]>;
}

/** New events as Server-Sent Events, until the reader goes. A slow reader is waited for. */
export const followEvents = (log: EventLog, { after, restored, show }: FollowOptions): Readable => {
  const stream = new EventStream();
  const subscription = log.subscribe({
    name: 'audit-follow',
    after,
    onRestored: async (end) => stream.restored(await streamIdAt(log, end)),
    onEvents: async (events) => {
      const shown = new Map((await show(events)).map((each) => [each.position, each]));
      for (const event of events) {
        const each = shown.get(event.position);
        if (each !== undefined && !(await stream.send(streamId(event), JSON.stringify(each), 'event'))) return;
      }
    },
  });
  void stream.gone.then(() => subscription.stop());
  stream.begin('following');
  if (restored !== undefined) void stream.restored(restored);
  return stream.body;
};
