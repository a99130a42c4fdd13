import type { EventLog } from '@app/event-log';
import type { Position } from '@app/kernel';
import { InvalidInput } from './invalid-input';

/** Checks a position from outside with the log. Throws a 400 problem that names the parameter. */
export const knownPosition = async (log: EventLog, text: string, parameter: string): Promise<Position> => {
  try {
    await log.readAll({ after: text, limit: 1 });
    return text;
  } catch (error) {
    if (error instanceof RangeError) return noPosition(parameter);
    throw error;
  }
};

/** Where a stream of events goes on. */
export interface ResumePoint {
  readonly after: Position | null;
  /** The log ends before what was received, so it was restored from an older backup: the reader is told, and it goes on behind the end. */
  readonly isLost: boolean;
}

/** From the id of the last event that was received. Throws as `knownPosition`. */
export const resumePoint = async (log: EventLog, text: string, parameter: string): Promise<ResumePoint> => {
  const after = await knownPosition(log, text, parameter);
  const head = await log.head();
  // A process that has not seen that event yet takes it for lost, too: its reader lists once more than it must.
  return head !== null && after <= head ? { after, isLost: false } : { after: head, isLost: true };
};

export const noPosition = (parameter: string): never => {
  throw new InvalidInput('invalid_parameter', [
    {
      path: parameter,
      code: 'invalid_format',
      message: 'Must be a position of the log, or an ISO 8601 time where times are allowed.',
    },
  ]);
};
