import { type EventContext, isoTime, type Position } from '@app/kernel';

/** A point in the log: a position, or a time (ISO 8601) that means the last event recorded at or before it. */
export type Moment = { readonly position: Position } | { readonly time: string };

const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/;
const UNZONED = /T[^Z+-]*$/;

/** Reads a time or a position; undefined for a text that looks like a time and is none, or none that can be told. A time without a zone is UTC. */
export const momentOf = (text: string): Moment | undefined => {
  if (!TIME.test(text)) return { position: text };
  const milliseconds = Date.parse(UNZONED.test(text) ? `${text}Z` : text);
  const time = Number.isNaN(milliseconds) || !isDay(text.slice(0, 10)) ? undefined : isoTime(milliseconds);
  return time === undefined ? undefined : { time };
};

/** `Date` takes the 30th of February for the 2nd of March. */
const isDay = (text: string): boolean => new Date(`${text}T00:00:00Z`).toISOString().startsWith(text);

/** Whether an event stands at or before a moment. */
export const isWithin = (moment: Moment, { position, recordedAt }: EventContext): boolean =>
  'position' in moment ? position <= moment.position : recordedAt <= moment.time;
