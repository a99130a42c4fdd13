/** The clock of the system. Inject it: deciders, projections and tests never read the clock of the machine. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/**
 * Formats a time as ISO 8601 UTC with milliseconds. Undefined outside the years 0 to 9999, whose texts do not sort as
 * times.
 */
export const isoTime = (milliseconds: number): string | undefined => {
  const text = new Date(milliseconds).toISOString();
  return /^\d/.test(text) ? text : undefined;
};

/** The latest time that `isoTime` can format. */
export const LAST_TIME = '9999-12-31T23:59:59.999Z';
