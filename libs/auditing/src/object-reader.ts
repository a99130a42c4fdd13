import type { EventLog } from '@app/event-log';
import { type EventCodec, isErased, type Json, type Keyring, type RecordedEvent, type StoredEvent } from '@app/kernel';
import { ENCRYPTED, holdsContent } from './shown-event';

/** Where an object's events stand. */
export interface ObjectPlace {
  readonly streams: readonly string[];
  /** Event types that its view reads. */
  readonly types: readonly string[];
  /** Further streams whose events change it, found in its first event: those of what it belongs to. */
  readonly related: (first: RecordedEvent) => readonly string[];
}

/** The events that made an object what it is, in log order, as somebody may see them. */
export interface ObjectEvents {
  readonly events: readonly RecordedEvent[];
  /** Whether they hold content that is not erased. */
  readonly holdContent: boolean;
}

const NO_KEYS = new Map<string, never>();

/** Reads the events of one object. Without `content` nothing is decrypted: what is sensitive reads as erased. */
export const readObject = async (
  log: EventLog,
  codec: EventCodec,
  keyring: Keyring,
  { streams, types, related }: ObjectPlace,
  content: boolean,
): Promise<ObjectEvents> => {
  const own = await readTypes(log, streams, types);
  const [first] = own;
  if (first === undefined) return { events: [], holdContent: false };
  const others = await readTypes(log, related(codec.decodeWith(first, NO_KEYS)), types);
  const stored = [...own, ...others].toSorted(inLogOrder);
  const keys = await keyring.keys([...new Set(stored.map((event) => event.stream))]);
  return {
    events: stored.map((event) => codec.decodeWith(event, content ? keys : NO_KEYS)),
    holdContent: stored.some((event) => holdsContent(event, keys)),
  };
};

/** What reads as erased only because it was not decrypted reads `{ encrypted: true }`. */
export const concealed = (value: Json): Json => {
  if (isErased(value)) return { ...ENCRYPTED };
  if (Array.isArray(value)) return value.map(concealed);
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, concealed(member)]))
    : value;
};

const readTypes = async (
  log: EventLog,
  streams: readonly string[],
  types: readonly string[],
): Promise<readonly StoredEvent[]> => {
  const events = await Promise.all(streams.map((stream) => log.readStream(stream)));
  return events
    .flat()
    .filter(({ type }) => types.includes(type))
    .toSorted(inLogOrder);
};

const inLogOrder = (a: StoredEvent, b: StoredEvent): number => (a.position < b.position ? -1 : 1);
