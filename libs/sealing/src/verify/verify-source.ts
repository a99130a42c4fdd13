import type { StoredEvent } from '@app/kernel';

/** Said in place of events that the source cannot give back. */
export interface Damage {
  readonly damage: string;
  readonly position?: string;
}

export const isDamage = (item: StoredEvent | Damage): item is Damage => 'damage' in item;

/** Where a verifier reads from; each of these reads from the beginning. */
export interface VerifySource {
  /** The stream of seals. */
  seals(): AsyncIterable<StoredEvent | Damage>;
  /** Every event in log order; seals may be among them. */
  events(): AsyncIterable<StoredEvent | Damage>;
  /** The stream of receipts of removals. */
  receipts(): AsyncIterable<StoredEvent | Damage>;
  /** Ordinal of the last seal, for progress. */
  total(): Promise<number>;
}
