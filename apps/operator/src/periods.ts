import { InvalidArgumentError } from 'commander';

/** How long work over a period of usage may take, milliseconds. */
export const LONG_WORK_MS = 280_000;

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A time as the API takes it; a day is its beginning in UTC. */
export const time = (text: string): string => {
  const given = DAY.test(text) ? `${text}T00:00:00Z` : text;
  if (Number.isNaN(Date.parse(given))) throw new InvalidArgumentError('must be a day such as 2026-11-01, or a time such as 2026-11-01T08:00:00+01:00.');
  return given;
};
