import type { Decider, EventOf } from '@app/kernel';
import type { ContentErased } from './erasure.events';

type Receipt = EventOf<typeof ContentErased>;

/** What was erased after a deletion. */
export interface WriteReceipt extends Omit<Receipt['data'], 'thingsInAll' | 'things'> {
  /** Streams whose keys were destroyed, however many. */
  readonly streams: readonly string[];
}

/** Streams that one event of a receipt names at most. */
export const STREAMS_IN_EVENT = 5_000;

/** The receipt of a deletion, by the id of its event: whether it was written. One is enough, whoever else erased the same. */
export const erasureReceipt: Decider<boolean, WriteReceipt, Receipt> = {
  category: 'erasure',
  initial: false,
  decide: ({ eventId, eventType, stream, streams, blobs, purged }, isWritten) => {
    if (isWritten) return [];
    const receipt = { eventId, eventType, stream, thingsInAll: streams.length, blobs, purged };
    return inChunks(streams).map((chunk) => ({ type: 'ContentErased', data: { ...receipt, things: chunk } }));
  },
  evolve: () => true,
};

const inChunks = (streams: readonly string[]): readonly string[][] => {
  const chunks = [streams.slice(0, STREAMS_IN_EVENT)];
  for (let from = STREAMS_IN_EVENT; from < streams.length; from += STREAMS_IN_EVENT)
    chunks.push(streams.slice(from, from + STREAMS_IN_EVENT));
  return chunks;
};
