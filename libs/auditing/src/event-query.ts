import { categoryOf, type EventContext } from '@app/kernel';

/** Which events an auditor asks for; all given filters must hold. Times are ISO 8601 UTC, both inclusive. */
export interface EventQuery {
  readonly stream?: string | undefined;
  readonly category?: string | undefined;
  readonly type?: string | undefined;
  readonly actor?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** What the filters look at. */
export type Traced = Pick<EventContext, 'stream' | 'actor' | 'correlationId' | 'recordedAt'> & { readonly type: string };

export const matches = (query: EventQuery, event: Traced): boolean =>
  holds(query.stream, event.stream) &&
  holds(query.category, categoryOf(event.stream)) &&
  holds(query.type, event.type) &&
  holds(query.actor, event.actor) &&
  holds(query.correlationId, event.correlationId) &&
  (query.from === undefined || event.recordedAt >= query.from) &&
  (query.to === undefined || event.recordedAt <= query.to);

const holds = (wanted: string | undefined, value: string): boolean => wanted === undefined || wanted === value;

/** True when the query asks for every event. */
export const isUnfiltered = (query: EventQuery): boolean => Object.values(query).every((value) => value === undefined);
