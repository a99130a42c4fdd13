import { createHmac, hash, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { ExpectedRevision, NewEvent, StoredEvent } from '@app/kernel';
import { type EventLog, InvalidAppend } from './event-log';

/** Injection token of the `EventMac`. */
export const EVENT_MAC = Symbol('EventMac');

/**
 * What the MAC of an event proves. `proven`: somebody with the key appended it here. `unplaced`: somebody with the
 * key appended it to this stream, at a revision that was not known then; it must not be there twice. `absent`: it has
 * none. `wrong`: it belongs to another event or key.
 */
export type MacCheck = 'proven' | 'unplaced' | 'absent' | 'wrong';

/** Makes and checks the MACs that appends carry. The key is derived from `SEAL_KEY`, which is never in the log. */
export interface EventMac {
  /** The same events, each with `mac` at the end of its metadata. The same append gives the same bytes. Throws `InvalidAppend` for metadata that are no JSON object. */
  stamped(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): readonly NewEvent[];
  check(event: Omit<StoredEvent, 'position'>): MacCheck;
}

/** 132 bits of the 256: the last character is of both halves. */
const MAC_CHARACTERS = 22;
/** At the end of the metadata: where the event was appended to, how the MAC was made, and the MAC. A storage format. */
const STAMP = /(,?)"mac":"(?:(\d+)|new\+(\d+)|any)([.:])([\w-]{22})"\}$/;
/** Longer than any stamp: the rest of the metadata is not searched for one. */
const LONGEST_STAMP = 80;

/**
 * `stamped` makes one hash of the key and the event: SHA-256 over a block of the key and a text that is no beginning of another such
 * text, of which half is kept. `check` also takes the HMAC-SHA-256 of what was appended before, with a `.` where these have a `:`.
 */
export const eventMacOf = (secret: string): EventMac => {
  const keyFor = (label: string): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', `agent-platform/event/mac/${label}`, KEY_BYTES));
  const hmacKey = keyFor('1');
  const keyBlock = keyFor('2').toString('hex');
  const macOf: MacOf = (stream, event, place, metadata) =>
    hash('sha256', keyBlock + textOf(stream, event, place, metadata), 'base64url').slice(0, MAC_CHARACTERS);
  const hmacOf: MacOf = (stream, event, place, metadata) =>
    createHmac('sha256', hmacKey)
      .update(`${headOf(stream, event, place)}${event.data}${metadata}`)
      .digest('base64url')
      .slice(0, MAC_CHARACTERS);
  return {
    stamped: (stream, events, expected) =>
      events.map((event, index) => stamped(macOf, stream, event, placeOf(expected, index))),
    check: (event) => {
      const found = stampIn(event.metadata);
      if (found === undefined) return 'absent';
      const mac = (found.isHmac ? hmacOf : macOf)(event.stream, event, found.place, found.metadata);
      return timingSafeEqual(Buffer.from(mac), Buffer.from(found.mac)) ? checkPlace(found, event.revision) : 'wrong';
    },
  };
};

/** As hexadecimal digits, which no encoding changes, one block of SHA-256. */
const KEY_BYTES = 32;

type Stamped = Pick<NewEvent, 'id' | 'type' | 'data'>;
type MacOf = (stream: string, event: Stamped, place: string, metadata: string) => string;

/** From now on every append to the log carries a MAC. */
export const stampAppends = (log: EventLog, mac: EventMac): void => {
  const append = log.append.bind(log);
  // An async function would cost each append another promise.
  log.append = (stream, events, expected) => {
    try {
      return append(stream, mac.stamped(stream, events, expected), expected);
    } catch (error) {
      return Promise.reject(error);
    }
  };
};

/** Metadata as they were before an append stamped them. */
export const withoutMac = (metadata: string): string => stampIn(metadata)?.metadata ?? metadata;

interface Stamp {
  readonly place: string;
  /** Undefined where the append did not say. */
  readonly revision: number | undefined;
  /** The stream was to have no events: it may have had some that were removed since. */
  readonly isNew: boolean;
  /** Made as MACs were at first. */
  readonly isHmac: boolean;
  readonly mac: string;
  readonly metadata: string;
}

const stampIn = (metadata: string): Stamp | undefined => {
  const end = metadata.slice(-LONGEST_STAMP);
  const match = STAMP.exec(end);
  if (match === null) return undefined;
  const [all, , exact, fromNew, sign, mac = ''] = match;
  const place = exact ?? (fromNew === undefined ? 'any' : `new+${fromNew}`);
  const revision = exact ?? fromNew;
  return {
    place,
    revision: revision === undefined ? undefined : Number(revision),
    isNew: fromNew !== undefined,
    isHmac: sign === '.',
    mac,
    metadata: `${metadata.slice(0, metadata.length - all.length)}}`,
  };
};

const checkPlace = ({ revision, isNew }: Stamp, actual: number): MacCheck => {
  if (revision === undefined) return 'unplaced';
  if (revision === actual) return 'proven';
  return isNew && actual > revision ? 'unplaced' : 'wrong';
};

const placeOf = (expected: ExpectedRevision, index: number): string => {
  if (typeof expected === 'number') return String(expected + 1 + index);
  return expected === 'noStream' ? `new+${index}` : 'any';
};

const stamped = (macOf: MacOf, stream: string, event: NewEvent, place: string): NewEvent => {
  const { id, type, data, metadata } = event;
  if (!metadata.startsWith('{') || !metadata.endsWith('}'))
    throw new InvalidAppend('the metadata of an event are a JSON object');
  const mac = macOf(stream, event, place, metadata);
  return {
    id,
    type,
    data,
    metadata: `${metadata.slice(0, -1)}${metadata === '{}' ? '' : ','}"mac":"${place}:${mac}"}`,
  };
};

/** Parts behind their lengths, so that no two events give the same text, and none the beginning of another's. A storage format. */
const textOf = (stream: string, { id, type, data }: Stamped, place: string, metadata: string): string =>
  `${place} ${id} ${stream.length}:${stream}${type.length}:${type}${data.length}:${data}${metadata.length}:${metadata}`;

/** What stood before data and metadata when MACs were HMACs. A storage format. */
const headOf = (stream: string, { id, type, data }: Stamped, place: string): string =>
  `${place} ${id} ${stream.length}:${stream}${type.length}:${type}${data.length}:`;
