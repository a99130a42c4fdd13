import { isUuid, type NewEvent, refuse } from '@app/kernel';
import { InvalidAppend, MAX_APPEND_BYTES, MAX_EVENT_BYTES } from './event-log';

/** No UTF-16 code unit takes more bytes than this in UTF-8. */
const MOST_BYTES_PER_UNIT = 3;

/**
 * Checks what every log asks of an append and answers its size in characters. Throws `InvalidAppend`, or `DomainError`
 * `too_large` with the limit.
 */
export const checkAppend = (stream: string, events: readonly NewEvent[]): number => {
  if (stream === '') throw new InvalidAppend('a stream has a name');
  if (events.length === 0) throw new InvalidAppend('an append holds at least one event');
  const sizes = events.map(sizeOf);
  const size = sizes.reduce((sum, next) => sum + next);
  if (Math.max(...sizes) * MOST_BYTES_PER_UNIT > MAX_EVENT_BYTES) for (const event of events) limit(bytesOf([event]), MAX_EVENT_BYTES);
  if (size * MOST_BYTES_PER_UNIT > MAX_APPEND_BYTES) limit(bytesOf(events), MAX_APPEND_BYTES);
  return size;
};

const sizeOf = ({ id, type, data, metadata }: NewEvent): number => {
  if (!isUuid(id)) throw new InvalidAppend('the id of an event is a UUID in lower case');
  if (type === '') throw new InvalidAppend('an event has a type');
  return type.length + data.length + metadata.length;
};

const bytesOf = (events: readonly NewEvent[]): number =>
  events.reduce((sum, { type, data, metadata }) => sum + Buffer.byteLength(type) + Buffer.byteLength(data) + Buffer.byteLength(metadata), 0);

const limit = (bytes: number, most: number): void => {
  if (bytes > most) refuse('too_large', { bytes, limit: most });
};
