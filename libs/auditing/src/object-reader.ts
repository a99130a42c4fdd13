import type { EventLog } from '@app/event-log';
import { type EventCodec, type Json, isErased, type Keyring, type RecordedEvent, type StoredEvent } from '@app/kernel';
import { ENCRYPTED, holdsContent } from './shown-event';

/** The events of an object's streams, in log order, as somebody may see them. */
export interface ObjectEvents {
  readonly events: readonly RecordedEvent[];
  /** True when content was decrypted for the reader. */
  readonly revealed: boolean;
  /** True when content was kept from the reader that a key could still open. */
  readonly concealed: boolean;
}

const NO_KEYS = new Map<string, never>();

/** Reads the streams of one object. Without `content` nothing is decrypted: what is sensitive reads as erased. */
export const readObject = async (log: EventLog, codec: EventCodec, keyring: Keyring, streams: readonly string[], content: boolean): Promise<ObjectEvents> => {
  const stored = (await Promise.all(streams.map((stream) => log.readStream(stream)))).flat().toSorted(inLogOrder);
  const keys = await keyring.keys(streams);
  const open = stored.some((event) => holdsContent(event, keys));
  return { events: stored.map((event) => codec.decodeWith(event, content ? keys : NO_KEYS)), revealed: content && open, concealed: !content && open };
};

/** What reads as erased only because the reader may not see it reads `{ encrypted: true }`. */
export const concealed = (value: Json): Json => {
  if (isErased(value)) return { ...ENCRYPTED };
  if (Array.isArray(value)) return value.map(concealed);
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, concealed(member)])) : value;
};

const inLogOrder = (a: StoredEvent, b: StoredEvent): number => (a.position < b.position ? -1 : 1);
