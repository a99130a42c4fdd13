import type { EventCodec, Position, RecordedEvent } from '@app/kernel';
import { LRUCache } from 'lru-cache';

/** What views need of the codec. */
export type EventReader = Pick<EventCodec, 'keysOf' | 'decodeWith'>;

/** Characters of events that are remembered. */
const REMEMBERED = 1024 * 1024;

interface Read {
  readonly recorded: RecordedEvent;
  readonly characters: number;
}

/**
 * Reads an event once for all views that follow the log, because they read it shortly after each other. Each view reads
 * events with content itself, because decrypted content must not outlive its keys.
 */
export const sharedReader = (codec: EventCodec): EventReader => {
  const known = new LRUCache<Position, Read>({ maxSize: REMEMBERED, sizeCalculation: ({ characters }) => characters });
  return {
    keysOf: (events) => codec.keysOf(events),
    decodeWith: (event, keys) => {
      if (codec.isSensitive(event.type)) return codec.decodeWith(event, keys);
      const read = known.get(event.position);
      if (read !== undefined) return read.recorded;
      const recorded = codec.decodeWith(event, keys);
      known.set(event.position, { recorded, characters: event.data.length + event.metadata.length });
      return recorded;
    },
  };
};
