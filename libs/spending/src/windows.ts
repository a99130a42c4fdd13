/** Which calendar a limit counts by. */
export interface WindowSpec {
  readonly window: 'day' | 'week' | 'month' | 'total';
  /** IANA time zone; a week begins on Monday there. */
  readonly timeZone: string;
  /** ISO 8601 UTC: weeks run from here instead, seven times 24 hours each; null for the calendar's weeks. */
  readonly anchor: string | null;
}

/** A window in time, ISO 8601 UTC; null at both ends: everything ever. `resetsAt` is no part of it. */
export interface Window {
  readonly start: string | null;
  readonly resetsAt: string | null;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const WEEK_MS = 7 * DAY_MS;

/** The last window that was asked for, with its ends in milliseconds: calendars are slow. */
const lastAsked = new WeakMap<WindowSpec, { readonly window: Window; readonly from: number; readonly until: number }>();

/** The window that a time, in milliseconds, falls into. */
export const windowAt = (spec: WindowSpec, at: number): Window => {
  const last = lastAsked.get(spec);
  if (last !== undefined && last.from <= at && at < last.until) return last.window;
  const window = findWindow(spec, at);
  const { start, resetsAt } = window;
  lastAsked.set(spec, {
    window,
    from: start === null ? -Infinity : Date.parse(start),
    until: resetsAt === null ? Infinity : Date.parse(resetsAt),
  });
  return window;
};

const findWindow = ({ window, timeZone, anchor }: WindowSpec, at: number): Window => {
  if (window === 'total') return { start: null, resetsAt: null };
  if (window === 'week' && anchor !== null) {
    const start = Date.parse(anchor) + Math.floor((at - Date.parse(anchor)) / WEEK_MS) * WEEK_MS;
    return between(start, start + WEEK_MS);
  }
  const first = firstDay(window, localDay(timeZone, at));
  return between(startOfDay(timeZone, first), startOfDay(timeZone, nextFirstDay(window, first)));
};

const between = (start: number, resetsAt: number): Window => ({
  start: new Date(start).toISOString(),
  resetsAt: new Date(resetsAt).toISOString(),
});

/** Days are counted as the number of days since 1970, wherever their midnight is. */
const firstDay = (window: 'day' | 'week' | 'month', day: number): number => {
  if (window === 'day') return day;
  // 1 January 1970 was a Thursday.
  if (window === 'week') return day - ((((day + 3) % 7) + 7) % 7);
  return day - new Date(day * DAY_MS).getUTCDate() + 1;
};

const nextFirstDay = (window: 'day' | 'week' | 'month', first: number): number => {
  if (window !== 'month') return first + (window === 'day' ? 1 : 7);
  const date = new Date(first * DAY_MS);
  // `Date.UTC` takes the year 50 for 1950.
  return date.setUTCMonth(date.getUTCMonth() + 1) / DAY_MS;
};

const formats = new Map<string, Intl.DateTimeFormat>();

/** Before the year 1 calendars count backwards: these days are those of UTC. */
const YEAR_ONE = Date.parse('0001-01-02T00:00:00Z');

/** The day that a time has in a zone. */
export const localDay = (timeZone: string, at: number): number => {
  if (at < YEAR_ONE) return Math.floor(at / DAY_MS);
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-CA', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
  formats.set(timeZone, format);
  // Years before 1000 are written shorter, and `Date` takes 50 for 1950.
  return Date.parse(format.format(at).padStart('YYYY-MM-DD'.length, '0')) / DAY_MS;
};

/**
 * The start of a day in a zone: not always midnight, which summer time may skip. Searched, to the minute, around the
 * day's midnight in UTC.
 */
const startOfDay = (timeZone: string, day: number): number => {
  let before = day * DAY_MS - DAY_MS;
  let from = day * DAY_MS + DAY_MS;
  while (from - before > MINUTE_MS) {
    const middle = before + Math.floor((from - before) / 2 / MINUTE_MS) * MINUTE_MS;
    if (localDay(timeZone, middle) >= day) from = middle;
    else before = middle;
  }
  return from;
};
