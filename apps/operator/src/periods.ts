import { InvalidArgumentError } from 'commander';

/** Timeout of work over a period of usage, milliseconds. */
export const LONG_WORK_MS = 280_000;

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const BEGINS_AS_DATE = /^\d{4}-\d{2}-\d{2}/;

/** The beginning of a day; any other text as it is. */
const beginning = (text: string): string => (DAY.test(text) ? `${text}T00:00:00Z` : text);

/** A time, or a position of the log, which looks like none. */
export const timeOrPosition = (text: string): string => (BEGINS_AS_DATE.test(text) ? time(text) : text);

/** For the help of every verb that takes times. */
export const TIMES =
  'Times are days such as 2026-11-01, which begin at midnight UTC, or times such as 2026-11-01T08:00:00+01:00.';

/** A time as the API takes it; a day is its beginning in UTC. */
export const time = (text: string): string => {
  const given = beginning(text);
  if (!BEGINS_AS_DATE.test(given) || Number.isNaN(Date.parse(given)))
    throw new InvalidArgumentError('must be a day such as 2026-11-01, or a time such as 2026-11-01T08:00:00+01:00.');
  return given;
};
