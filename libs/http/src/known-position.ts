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

export const noPosition = (parameter: string): never => {
  throw new InvalidInput('invalid_parameter', [
    {
      path: parameter,
      code: 'invalid_format',
      message: 'Must be a position of the log, or an ISO 8601 time where times are allowed.',
    },
  ]);
};
