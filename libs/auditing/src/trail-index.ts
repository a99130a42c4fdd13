import type { EventLog } from '@app/event-log';
import { isoTime, LAST_TIME, type Plain, type Position, type StoredEvent } from '@app/kernel';
import type { ReadStore, StoredRow } from '@app/read-store';
import { type EventQuery, matches, type Traced } from './event-query';

/** The view that indexes the log for auditors (projections/audit-trail). */
export const AUDIT_TRAIL = 'audit-trail';

const PAGE = 200;
/** How far the time of recording may be out of the order of the log: a command's time is taken before it is appended. */
const DISORDER_MS = 60_000;
const BEFORE_ALL = '';
const BEHIND_ALL = '\u{10ffff}';

type TrailRow = Traced & { readonly revision: number };

/** A piece of the log in the order asked for: what matched, and how far was looked. */
export interface Stretch {
  readonly events: readonly StoredEvent[];
  readonly lookedAt: number;
  readonly upTo: Position | null;
  readonly end: boolean;
}

/** The filter that the index answers; what else was asked is checked row by row. */
export interface IndexFilter {
  readonly field: string;
  readonly value: string;
}

/** Most selective first. */
const FIELDS = ['correlationId', 'stream', 'actor', 'type', 'category'] as const;

export const indexFilter = (query: EventQuery): IndexFilter | undefined => {
  const field = FIELDS.find((name) => query[name] !== undefined);
  return field === undefined ? undefined : { field, value: query[field] as string };
};

/** A page of the index, of `most` rows at most, with the events of the rows that match. */
export const indexPage = async (
  views: ReadStore,
  log: EventLog,
  query: EventQuery,
  { field, value }: IndexFilter,
  { order, after, most }: { readonly order: 'asc' | 'desc'; readonly after: Position | null; readonly most: number },
): Promise<Stretch> => {
  const limit = Math.min(PAGE, most);
  const rows = await views.find(AUDIT_TRAIL, {
    where: { [field]: value },
    orderBy: [{ field, order }],
    limit,
    ...(after === null ? {} : { after: { values: [value], key: after } }),
  });
  const matching = rows.map(trailRow).filter((row) => matches(query, row));
  const events = await Promise.all(matching.map((row) => eventAt(log, row)));
  return {
    events: events.filter((event) => event !== undefined),
    lookedAt: rows.length,
    upTo: rows.at(-1)?.key ?? after,
    end: rows.length < limit,
  };
};

/**
 * The positions between which the events of a time span lie, both exclusive, in the requested order. Wider than the
 * span by `DISORDER_MS` at both ends; null at an end of the log.
 */
export const timeBounds = async (
  views: ReadStore,
  { from, to }: EventQuery,
  order: 'asc' | 'desc',
): Promise<{ readonly start: Position | null; readonly stop: Position | null }> => {
  const [before, behind] = await Promise.all([
    from === undefined ? null : nearest(views, 'desc', shifted(from, -DISORDER_MS), BEFORE_ALL),
    to === undefined ? null : nearest(views, 'asc', shifted(to, DISORDER_MS), BEHIND_ALL),
  ]);
  return order === 'asc' ? { start: before, stop: behind } : { start: behind, stop: before };
};

const nearest = async (
  views: ReadStore,
  order: 'asc' | 'desc',
  time: string,
  key: string,
): Promise<Position | null> => {
  const rows = await views.find(AUDIT_TRAIL, {
    orderBy: [{ field: 'recordedAt', order }],
    after: { values: [time], key },
    limit: 1,
  });
  return rows[0]?.key ?? null;
};

/** Not beyond the times that compare as text. */
const shifted = (time: string, milliseconds: number): string =>
  isoTime(Date.parse(time) + milliseconds) ?? (milliseconds < 0 ? BEFORE_ALL : LAST_TIME);

/** Where the event with an id stands, as far as the index knows. */
export const positionOf = async (views: ReadStore, id: string): Promise<Position | undefined> =>
  (await views.find(AUDIT_TRAIL, { where: { id }, limit: 1 }))[0]?.key;

/** The event of a row; undefined when it was truncated since. */
const eventAt = async (log: EventLog, { stream, revision }: TrailRow): Promise<StoredEvent | undefined> => {
  const [event] = await log.readStream(stream, { from: revision, limit: 1 });
  return event?.revision === revision ? event : undefined;
};

/** The view's rows hold these fields, and only queries by what auditors may ask look at them. */
const trailRow = ({ row }: StoredRow): TrailRow => row as Plain<TrailRow>;
