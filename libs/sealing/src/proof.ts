import { leafHash, type SealedEvent } from './event-hash';
import { merklePath } from './merkle';
import { headOf, sealedEvents, type SealHead } from './seal';
import type { ArchivedSeal } from './seal-archive';

/** The proof of an event: its seal, and the hashes from the event to the seal's root. */
export interface Proof {
  readonly event: SealedEvent;
  readonly ordinal: number;
  /** Place in the seal, from 0, and number of events under it. */
  readonly index: number;
  readonly size: number;
  /** SHA-256 hashes in hex, nearest to the event first. */
  readonly path: readonly string[];
  readonly seal: SealHead;
}

/** The proof of an event under a seal; undefined when the seal does not cover it. */
export const proofOf = ({ seal }: ArchivedSeal, eventId: string): Proof | undefined => {
  const events = sealedEvents(seal);
  const index = events.findIndex(({ id }) => id === eventId);
  const event = events[index];
  if (event === undefined) return undefined;
  const path = merklePath(events.map(leafHash), index).map((hash) => hash.toString('hex'));
  return { event, ordinal: seal.fromOrdinal + index, index, size: events.length, path, seal: headOf(seal) };
};
