import type { AnyEvent } from './event-definition';
import type { Position } from './log-records';

/** Where and when an event was recorded, and who caused it. */
export interface EventContext {
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: Position;
  /** ISO 8601 UTC with milliseconds. */
  readonly recordedAt: string;
  readonly actor: string;
  readonly onBehalfOf?: string;
  readonly commandId: string;
  readonly commandHash?: string;
  readonly requestId?: string;
  readonly correlationId: string;
  readonly causationId?: string;
}

/** An event read from the log: newest schema, decrypted (or erased), with its context. */
export type RecordedEvent<Event extends AnyEvent = AnyEvent> = Event & { readonly context: EventContext };
