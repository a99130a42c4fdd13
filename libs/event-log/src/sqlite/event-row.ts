import { crc32 } from 'node:zlib';
import type { StoredEvent } from '@app/kernel';
import { LogCorrupted } from '../event-log';
import { positionText } from './positions';

/** A row of the table `events`, in the order of `COLUMNS`. */
export type EventRow = readonly [
  position: number,
  stream: string,
  revision: number,
  id: string,
  type: string,
  data: string,
  metadata: string,
  checksum: number,
];

export const COLUMNS = 'position, stream, revision, id, type, data, metadata, checksum';

/** The type of a row whose event was removed: the row stays, so that positions and revisions stay explained. */
export const REMOVED = '';

/** CRC-32 over all fields of a row, in a fixed order. It is a storage format. It finds accidents; seals find intent. */
export const checksumOf = (
  position: number,
  stream: string,
  revision: number,
  id: string,
  type: string,
  data: string,
  metadata: string,
): number => crc32(`${position} ${stream} ${revision} ${id} ${type}\n${data}\n${metadata}`);

/** Throws `LogCorrupted` when a row is not what was written. A flipped bit may also turn text into a blob of the same bytes. */
export const verify = (row: EventRow): void => {
  const [position, stream, revision, id, type, data, metadata, checksum] = row;
  const isText =
    typeof data === 'string' &&
    typeof metadata === 'string' &&
    typeof type === 'string' &&
    typeof id === 'string' &&
    typeof stream === 'string';
  if (!isText || checksumOf(position, stream, revision, id, type, data, metadata) !== checksum) {
    throw new LogCorrupted(`position ${positionText(position)}`, 'the event does not match its checksum');
  }
};

export const isRemoved = (row: EventRow): boolean => row[4] === REMOVED;

export const storedEvent = ([position, stream, revision, id, type, data, metadata]: EventRow): StoredEvent => ({
  position: positionText(position),
  stream,
  revision,
  id,
  type,
  data,
  metadata,
});
