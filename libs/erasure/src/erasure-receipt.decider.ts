import type { Decider, EventOf } from '@app/kernel';
import type { ContentErased } from './erasure.events';

type Receipt = EventOf<typeof ContentErased>;

/** What was erased after a deletion. */
export interface WriteReceipt extends Omit<Receipt['data'], 'thingsInAll' | 'things'> {
  /** Streams whose keys were destroyed, however many. */
  readonly things: readonly string[];
}

/** Things that one event of a receipt names at most. */
export const THINGS_IN_EVENT = 5_000;

/** The receipt of a deletion, by the id of its event: whether it was written. One is enough, whoever else erased the same. */
export const erasureReceipt: Decider<boolean, WriteReceipt, Receipt> = {
  category: 'erasure',
  initial: false,
  decide: ({ eventId, eventType, stream, things, blobs, purged }, isWritten) => {
    if (isWritten) return [];
    const receipt = { eventId, eventType, stream, thingsInAll: things.length, blobs, purged };
    return inChunks(things).map((chunk) => ({ type: 'ContentErased', data: { ...receipt, things: chunk } }));
  },
  evolve: () => true,
};

const inChunks = (things: readonly string[]): readonly string[][] => {
  const chunks = [things.slice(0, THINGS_IN_EVENT)];
  for (let from = THINGS_IN_EVENT; from < things.length; from += THINGS_IN_EVENT)
    chunks.push(things.slice(from, from + THINGS_IN_EVENT));
  return chunks;
};
