import { isUuid, type NewEvent, reject } from '@app/kernel/threads';
import { InvalidAppend, MAX_APPEND_BYTES, MAX_EVENT_BYTES } from './event-log';

/** Most bytes of one event and of one append. */
export interface AppendLimits {
  readonly event: number;
  readonly append: number;
}

const EMBEDDED_LIMITS: AppendLimits = { event: MAX_EVENT_BYTES, append: MAX_APPEND_BYTES };

/** No UTF-16 code unit takes more bytes than this in UTF-8. */
const MOST_BYTES_PER_UNIT = 3;

/**
 * Checks what every log asks of an append and answers its size in characters. Throws `InvalidAppend`, or `DomainError`
 * `too_large` with the limit.
 */
export const checkAppend = (stream: string, events: readonly NewEvent[], limits = EMBEDDED_LIMITS): number => {
  if (stream === '') throw new InvalidAppend('a stream has a name');
  if (events.length === 0) throw new InvalidAppend('an append holds at least one event');
  let size = 0;
  let largest = 0;
  for (const event of events) {
    const own = sizeOf(event);
    size += own;
    largest = Math.max(largest, own);
  }
  if (largest * MOST_BYTES_PER_UNIT > limits.event) for (const event of events) limit(bytesOf([event]), limits.event);
  if (size * MOST_BYTES_PER_UNIT > limits.append) limit(bytesOf(events), limits.append);
  return size;
};

const sizeOf = ({ id, type, data, metadata }: NewEvent): number => {
  if (!isUuid(id)) throw new InvalidAppend('the id of an event is a UUID in lower case');
  if (type === '') throw new InvalidAppend('an event has a type');
  return type.length + data.length + metadata.length;
};

const bytesOf = (events: readonly NewEvent[]): number =>
  events.reduce(
    (sum, { type, data, metadata }) =>
      sum + Buffer.byteLength(type) + Buffer.byteLength(data) + Buffer.byteLength(metadata),
    0,
  );

const limit = (bytes: number, most: number): void => {
  if (bytes > most) reject('too_large', { bytes, limit: most });
};
