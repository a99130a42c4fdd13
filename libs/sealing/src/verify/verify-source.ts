import type { StoredEvent } from '@app/kernel';
import type { ForeignEvents } from './verification';

/** Said in place of events that the source cannot give back. */
export interface Damage {
  readonly damage: string;
  readonly position?: string;
}

/** An event that another program wrote to the same server. */
export interface ForeignItem extends StoredEvent {
  /** When the server took it, ISO 8601 UTC. */
  readonly at: string;
  /** Hash of what was stored; without it that of type, data and metadata. */
  readonly content?: string;
  /** Its stream holds events of ours. */
  readonly isAmongOurs: boolean;
}

/** Events of others that a source does not give one by one. */
export interface PassedOver {
  readonly passedOver: ForeignEvents;
}

/** What a source gives one after the other. */
export type SourceItem = StoredEvent | ForeignItem | PassedOver | Damage;

/** Whether the source could not read what stands here. */
export const isDamage = (item: SourceItem): item is Damage => 'damage' in item;
/** Whether the source passes over what stands here. */
export const isPassedOver = (item: SourceItem): item is PassedOver => 'passedOver' in item;
/** Whether the item is an event of another program. */
export const isForeignItem = (item: StoredEvent | ForeignItem): item is ForeignItem => 'isAmongOurs' in item;

/** Where a verifier reads from; each of these reads from the beginning. */
export interface VerifySource {
  /** The stream of seals. */
  seals(): AsyncIterable<StoredEvent | Damage>;
  /** Every event in log order; seals may be among them, and what others wrote. */
  events(): AsyncIterable<SourceItem>;
  /** The stream of receipts of removals. */
  receipts(): AsyncIterable<StoredEvent | Damage>;
  /** Ordinal of the last seal, for progress. */
  total(): Promise<number>;
}
