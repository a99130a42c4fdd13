import { createHash, randomFillSync } from 'node:crypto';

/** A UUID in lower-case canonical text form. */
export type Uuid = string;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True for a canonical lower-case UUID of any version. EventStoreDB's client dies on ids that are none. */
export const isUuid = (text: string): text is Uuid => UUID.test(text);

/** Makes new ids; injected, so that tests can repeat a run. */
export interface Ids {
  /** A UUIDv7: unique, and ordered by creation time. */
  next(): Uuid;
}

/** UUIDv7 (RFC 9562, 5.7) of the machine's clock; within one millisecond a counter keeps the order. */
export class TimeOrderedIds implements Ids {
  private last = 0;
  private sequence = 0;
  private readonly random = new RandomBytes();

  constructor(private readonly now: () => number = Date.now) {}

  next(): Uuid {
    const time = Math.max(this.now(), this.last);
    this.sequence = time === this.last ? this.sequence + 1 : this.random.take(2).readUInt16BE() & 0x7ff;
    this.last = this.sequence > 0xfff ? time + 1 : time;
    if (this.sequence > 0xfff) this.sequence = 0;
    const bytes = this.random.take(16);
    bytes.writeUIntBE(this.last, 0, 6);
    bytes.writeUInt16BE(0x7000 | this.sequence, 6);
    return format(bytes, 7);
  }
}

/** Random bytes from the system, fetched many at a time: each fetch costs more than all else about an id. */
class RandomBytes {
  private readonly bytes = Buffer.alloc(4_096);
  private used = this.bytes.length;

  /** Bytes to be used, and overwritten, at once. */
  take(count: number): Buffer {
    if (this.used + count > this.bytes.length) {
      randomFillSync(this.bytes);
      this.used = 0;
    }
    this.used += count;
    return this.bytes.subarray(this.used - count, this.used);
  }
}

/** The id of what a command makes: keeps the command id's time, so that ids stay ordered, and is the same for every repeat. */
export const deriveId = (commandId: Uuid, label: string): Uuid => {
  const source = Buffer.from(commandId.replaceAll('-', ''), 'hex');
  const bytes = createHash('sha256').update(source).update(label).digest().subarray(0, 16);
  source.copy(bytes, 0, 0, 6);
  return format(bytes, 7);
};

/** The id of the n-th event of a command: the same for every repeat, so that a repeated append is recognised. */
export const eventId = (commandId: Uuid, index: number): Uuid => nameId(commandId, String(index));

/** UUIDv5 (RFC 9562, 5.5) of a name in a namespace. */
export const nameId = (namespace: Uuid, name: string): Uuid => {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest();
  return format(bytes.subarray(0, 16), 5);
};

const format = (bytes: Buffer, version: number): Uuid => {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | (version << 4), 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};
