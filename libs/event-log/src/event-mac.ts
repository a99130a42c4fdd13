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

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const SCRATCH_BYTES = 16_384;
/** 132 bits of the 256: the last character is of both halves. */
const MAC_CHARACTERS = 22;
/** At the end of the metadata: where the event was appended to, and the MAC. A storage format. */
const STAMP = /(,?)"mac":"(?:(\d+)|new\+(\d+)|any)\.([\w-]{22})"\}$/;
/** Longer than any stamp: the rest of the metadata is not searched for one. */
const LONGEST_STAMP = 80;

/** The MAC of events under the key that is derived from `SEAL_KEY`. */
export const eventMacOf = (secret: string): EventMac => {
  const hmac = new Hmac(Buffer.from(hkdfSync('sha256', secret, '', 'agent-platform/event/mac/1', 32)));
  return {
    stamped: (stream, events, expected) =>
      events.map((event, index) => stamped(hmac, stream, event, placeOf(expected, index))),
    check: (event) => {
      const found = stampIn(event.metadata);
      if (found === undefined) return 'absent';
      const mac = hmac.of(headOf(event.stream, event, found.place), event.data, found.metadata);
      return timingSafeEqual(Buffer.from(mac), Buffer.from(found.mac)) ? checkPlace(found, event.revision) : 'wrong';
    },
  };
};

/** HMAC-SHA-256 (RFC 2104) by two hashes at once: `createHmac` makes an object for each, which costs as much again. */
class Hmac {
  private readonly inner = Buffer.alloc(SCRATCH_BYTES);
  private readonly outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);

  constructor(private readonly key: Buffer) {
    for (let index = 0; index < BLOCK_BYTES; index += 1) {
      this.inner[index] = (key[index] ?? 0) ^ 0x36;
      this.outer[index] = (key[index] ?? 0) ^ 0x5c;
    }
  }

  /**
   * Half of the digest (RFC 4868) of three concatenated texts, base64url. They are not joined, which would make another
   * copy.
   */
  of(head: string, data: string, metadata: string): string {
    return this.digest(head, data, metadata).slice(0, MAC_CHARACTERS);
  }

  private digest(head: string, data: string, metadata: string): string {
    if (BLOCK_BYTES + (head.length + data.length + metadata.length) * 3 > SCRATCH_BYTES)
      return createHmac('sha256', this.key).update(head).update(data).update(metadata).digest('base64url');
    let end = BLOCK_BYTES + this.inner.write(head, BLOCK_BYTES);
    end += this.inner.write(data, end);
    end += this.inner.write(metadata, end);
    // One character a byte: written back at a tenth of what hexadecimal takes.
    this.outer.write(hash('sha256', this.inner.subarray(0, end), 'binary'), BLOCK_BYTES, 'latin1');
    return hash('sha256', this.outer, 'base64url');
  }
}

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
  readonly mac: string;
  readonly metadata: string;
}

const stampIn = (metadata: string): Stamp | undefined => {
  const end = metadata.slice(-LONGEST_STAMP);
  const match = STAMP.exec(end);
  if (match === null) return undefined;
  const [all, , exact, fromNew, mac = ''] = match;
  const place = exact ?? (fromNew === undefined ? 'any' : `new+${fromNew}`);
  const revision = exact ?? fromNew;
  return {
    place,
    revision: revision === undefined ? undefined : Number(revision),
    isNew: fromNew !== undefined,
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

const stamped = (hmac: Hmac, stream: string, event: NewEvent, place: string): NewEvent => {
  const { id, type, data, metadata } = event;
  if (!metadata.startsWith('{') || !metadata.endsWith('}'))
    throw new InvalidAppend('the metadata of an event are a JSON object');
  const mac = hmac.of(headOf(stream, event, place), data, metadata);
  return {
    id,
    type,
    data,
    metadata: `${metadata.slice(0, -1)}${metadata === '{}' ? '' : ','}"mac":"${place}.${mac}"}`,
  };
};

/**
 * The prefix before data and metadata: each part preceded by its length, so two events never give the same text. A
 * storage format.
 */
const headOf = (stream: string, { id, type, data }: Pick<NewEvent, 'id' | 'type' | 'data'>, place: string): string =>
  `${place} ${id} ${stream.length}:${stream}${type.length}:${type}${data.length}:`;
