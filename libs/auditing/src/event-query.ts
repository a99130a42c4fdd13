import { categoryOf, storedMeta, type StoredEvent } from '@app/kernel';

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
export interface Traced {
  readonly stream: string;
  readonly type: string;
  readonly actor: string;
  readonly correlationId: string;
  readonly recordedAt: string;
}

/** What the filters look at, of a stored event. A field that its metadata lack is empty. */
export const tracedOf = ({ stream, type, metadata }: StoredEvent): Traced => {
  const meta = storedMeta(metadata);
  return {
    stream,
    type,
    actor: meta['actor'] ?? '',
    correlationId: meta['$correlationId'] ?? '',
    recordedAt: meta['recordedAt'] ?? '',
  };
};

/** Whether an event passes every filter of the query. */
export const matches = (query: EventQuery, event: Traced): boolean =>
  holds(query.stream, event.stream) &&
  holds(query.category, categoryOf(event.stream)) &&
  holds(query.type, event.type) &&
  holds(query.actor, event.actor) &&
  holds(query.correlationId, event.correlationId) &&
  (query.from === undefined || event.recordedAt >= query.from) &&
  (query.to === undefined || event.recordedAt <= query.to);

const holds = (wanted: string | undefined, value: string): boolean => wanted === undefined || wanted === value;
