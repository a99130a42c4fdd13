import type { EventLog } from '@app/event-log';
import { idOf, inReadScope, isDomainError, type Position, type StoredEvent } from '@app/kernel';
import type { Readable } from 'node:stream';
import { EventStream, type JsonText, type ResumePoint, streamId, streamIdAt } from '@app/http';

/** How often progress of running attempts is looked at, milliseconds. */
const PROGRESS_MS = 500;

export interface DocumentEventsOptions {
  readonly log: EventLog;
  /** Where to go on: behind the last event that was received. From now on where it is absent. */
  readonly from?: ResumePoint | undefined;
  /** Resolves when the view of documents shows everything up to a position. */
  readonly viewReached: (position: Position) => Promise<unknown>;
  /** The document as it is shown; undefined where the caller's Agent does not search it (any more). Throws when the caller may not look on. */
  readonly show: (documentId: string) => Promise<{ readonly json: JsonText; readonly running: boolean } | undefined>;
  /** Whether the caller's Agent searched a document before it was deleted. */
  readonly wasShown: (documentId: string) => Promise<boolean>;
  /** Where a running attempt stands, as JSON. */
  readonly progress: (documentId: string) => Promise<string | undefined>;
}

/**
 * Streams changes of documents as Server-Sent Events, from now on or after an event: `document` with the current
 * document, `deleted` with its id, `progress` with the step and count of a running attempt, `restored` when the log was
 * restored from an older backup. Ends when the caller loses access.
 */
export const documentEvents = async ({
  log,
  from,
  viewReached,
  show,
  wasShown,
  progress,
}: DocumentEventsOptions): Promise<Readable> => {
  const stream = new EventStream();
  const running = new Map<string, string>();
  const after = from === undefined ? await log.head() : from.after;
  /** Of the last event that was told: progress is of a document that was. */
  let last = '';
  const tell = async (documentId: string, event: StoredEvent): Promise<void> => {
    const id = streamId(event);
    const shown = await inReadScope(() => show(documentId));
    if (shown === undefined) {
      if (event.type === 'DocumentDeleted' && (await wasShown(documentId)))
        await stream.send(id, JSON.stringify({ id: documentId }), 'deleted');
    } else await stream.send(id, shown.json.text, 'document');
    // Not before: whoever goes on behind progress has heard what came before it.
    last = id;
    if (shown?.running === true) running.set(documentId, running.get(documentId) ?? '');
    else running.delete(documentId);
  };
  const subscription = log.subscribe({
    name: 'document-events',
    after,
    filter: { streamPrefixes: ['document-'] },
    onRestored: async (end) => {
      running.clear();
      await stream.restored(await streamIdAt(log, end));
    },
    onEvents: async (events) => {
      // By position, so that whoever goes on behind one of them has missed none.
      const newest = new Map(events.map((event) => [event.stream, event]));
      for (const event of [...newest.values()].toSorted(byPosition)) {
        if (!stream.open) return;
        await viewReached(event.position);
        await tell(idOf(event.stream), event).catch((error: Error) => endWith(stream, error));
      }
    },
  });
  const timer = setInterval(() => void sendProgress(stream, running, progress, last), PROGRESS_MS);
  void stream.gone.then(async () => {
    clearInterval(timer);
    await subscription.stop();
  });
  stream.begin('following');
  if (from?.restored !== undefined) void stream.restored(from.restored);
  return stream.body;
};

const byPosition = (a: StoredEvent, b: StoredEvent): number => (a.position < b.position ? -1 : 1);

const sendProgress = async (
  stream: EventStream,
  running: Map<string, string>,
  progress: DocumentEventsOptions['progress'],
  id: string,
): Promise<void> => {
  try {
    for (const [documentId, before] of running) {
      const now = await progress(documentId);
      if (now === undefined || now === before) continue;
      running.set(documentId, now);
      await stream.send(id, now, 'progress');
    }
  } catch (error) {
    endWith(stream, error as Error);
  }
};

/** A reader who is rejected has lost access: that is an end, and no failure of ours. */
const endWith = (stream: EventStream, error: Error): void => stream.end(isDomainError(error) ? undefined : error);
