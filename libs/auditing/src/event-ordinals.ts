import type { StoredEvent } from '@app/kernel';

/** Injection token of `EventOrdinals`. */
export const EVENT_ORDINALS = Symbol('EventOrdinals');

/** The numbers that the seals give to events. */
export interface EventOrdinals {
  /** By event id; an event that no seal covers yet is left out. */
  of(events: readonly StoredEvent[]): Promise<ReadonlyMap<string, number>>;
}
