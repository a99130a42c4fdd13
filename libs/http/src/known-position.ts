import type { EventLog } from '@app/event-log';
import type { Position } from '@app/kernel';
import { InvalidInput } from './invalid-input';
import { holdsMarked, streamIdAt, markedPosition } from './stream-id';

/** Checks a position from outside with the log, or takes that of an id of a stream. Throws as `noPosition`. */
export const knownPosition = async (
  log: EventLog,
  text: string,
  parameter: string,
  { orTime = false } = {},
): Promise<Position> => {
  const { position } = markedPosition(text);
  try {
    await log.readAll({ after: position, limit: 1 });
    return position;
  } catch (error) {
    if (error instanceof RangeError) return noPosition(parameter, { orTime });
    throw error;
  }
};

/** Where a stream of events goes on. */
export interface ResumePoint {
  readonly after: Position | null;
  /** The log was restored from an older backup and lacks what was received: the id of the notice to the reader, which goes on behind the end. */
  readonly restored?: string;
}

/**
 * From the id of the last event that was received: the log is asked for the event there. A position without a mark is taken for that
 * of an event as long as the log does not end before it. Throws as `knownPosition`.
 */
export const resumePoint = async (log: EventLog, text: string, parameter: string): Promise<ResumePoint> => {
  const place = markedPosition(text);
  if (place.mark !== undefined) return (await holdsMarked(log, place)) ? { after: place.position } : endOf(log);
  const after = await knownPosition(log, text, parameter);
  const head = await log.head();
  // A process that has not seen that event yet takes it for lost, too: its reader lists once more than it must.
  return head !== null && after <= head ? { after } : endOf(log);
};

const endOf = async (log: EventLog): Promise<ResumePoint> => {
  const after = await log.head();
  return { after, restored: await streamIdAt(log, after) };
};

/** Rejects a parameter that is no position of the log, nor a time where it may be one (`orTime`). Throws a 400 problem that names it. */
export const noPosition = (parameter: string, { orTime = false } = {}): never => {
  throw new InvalidInput('invalid_parameter', [
    {
      path: parameter,
      code: 'invalid_format',
      message: `Must be a position from an answer${orTime ? ', or a time in ISO 8601' : ''}.`,
    },
  ]);
};
