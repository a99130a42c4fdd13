import type { IncomingHttpHeaders } from 'node:http';

/** A longer wait is not believed. */
const MOST_SECONDS = 999_999;
/** The forms of a date in HTTP: the usual one, and two old ones that are still to be understood. */
const DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const WEEKDAY_DATE = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const BARE_DATE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * How long a provider wants to be left alone, told in seconds or as a date. A date counts from the one that the answer
 * bears, since the provider's clock may differ from ours.
 */
export const retryAfterOf = ({
  'retry-after': told,
  date,
}: IncomingHttpHeaders): { readonly retryAfterSeconds?: number } => {
  const seconds = told === undefined ? undefined : /^\d+$/.test(told) ? Number(told) : secondsUntil(told, date);
  return seconds === undefined || seconds > MOST_SECONDS ? {} : { retryAfterSeconds: seconds };
};

const secondsUntil = (told: string, date: string | undefined): number | undefined => {
  const time = timeOf(told);
  return time === undefined ? undefined : Math.max(0, Math.ceil((time - (timeOf(date) ?? Date.now())) / 1_000));
};

/** Milliseconds; undefined for what is no date in HTTP. */
const timeOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const time =
    DATE.test(text) || WEEKDAY_DATE.test(text)
      ? Date.parse(text)
      : BARE_DATE.test(text)
        ? Date.parse(`${text} GMT`)
        : NaN;
  return Number.isNaN(time) ? undefined : time;
};
