import { createHash } from 'node:crypto';
import type { EventLog } from '@app/event-log';
import type { Position, StoredEvent } from '@app/kernel';

const MARK_DIGITS = 8;
const FORM = new RegExp(`^(\\d+)-([0-9a-f]{${MARK_DIGITS}})$`);

/** A place in the log as its reader has it. */
export interface MarkedPosition {
  readonly position: Position;
  /** Tells the event there from any other that stands there in another history of the log; undefined where only the position is known. */
  readonly mark?: string | undefined;
}

/** The id of an event in a stream of events: `<position>-<mark>`, opaque to its reader. Orders as positions do. */
export const streamId = (event: StoredEvent): string => `${event.position}-${markOf(event)}`;

/** The id of the end of a log, to go on from: without a mark where no event of ours can be read there, and empty for an empty log. */
export const streamIdAt = async (log: Pick<EventLog, 'eventAt'>, end: Position | null): Promise<string> => {
  const event = end === null ? undefined : await log.eventAt(end);
  return typeof event === 'object' ? streamId(event) : (end ?? '');
};

/** Any other text is taken for a position: it is the log that knows. */
export const markedPosition = (text: string): MarkedPosition => {
  const [, position, mark] = FORM.exec(text) ?? [];
  return position === undefined ? { position: text } : { position, mark };
};

/** Whether the log holds the event of an id in its place. An event that was removed is taken for it. */
export const holdsMarked = async (
  log: Pick<EventLog, 'eventAt'>,
  { position, mark }: MarkedPosition,
): Promise<boolean> => {
  try {
    const event = await log.eventAt(position);
    return event === 'removed' || (event !== undefined && markOf(event) === mark);
  } catch (error) {
    // Some log gave it out: this one is another, where no event begins there, or whose positions look otherwise.
    if (error instanceof RangeError) return false;
    throw error;
  }
};

/**
 * Of the metadata, too: they say when it was appended. The id alone is the same where a command is repeated, or a policy reacts once
 * more, after a restore, and then other events may stand before it.
 */
const markOf = ({ id, metadata }: StoredEvent): string =>
  createHash('sha256').update(`${id} ${metadata}`).digest('hex').slice(0, MARK_DIGITS);
