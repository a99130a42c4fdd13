import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import type { EventLog } from '@app/event-log';
import type { Position, StoredEvent } from '@app/kernel';

/** Proxies close connections on which nothing was sent for long. */
const HEARTBEAT_MS = 15_000;

export interface FollowOptions {
  readonly after: Position | null;
  /** What is sent of a page of events, in their order; its position is the event's id, to go on from. */
  readonly show: (events: readonly StoredEvent[]) => Promise<readonly { readonly position: Position }[]>;
}

/** New events as Server-Sent Events, until the reader goes. A slow reader is waited for. */
export const followEvents = (log: EventLog, { after, show }: FollowOptions): Readable => {
  const lines = new PassThrough();
  const gone = once(lines, 'close');
  const subscription = log.subscribe({
    name: 'audit-follow',
    after,
    onEvents: async (events) => {
      for (const shown of await show(events)) {
        if (lines.destroyed) return;
        if (!lines.write(`id: ${shown.position}\nevent: event\ndata: ${JSON.stringify(shown)}\n\n`)) await Promise.race([once(lines, 'drain'), gone]);
      }
    },
  });
  const heartbeat = setInterval(() => lines.write(':\n\n'), HEARTBEAT_MS);
  void gone.then(async () => {
    clearInterval(heartbeat);
    await subscription.stop();
  });
  lines.write(': following\n\n');
  return lines;
};
