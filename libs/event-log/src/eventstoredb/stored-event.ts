import type { ReadResp } from '@eventstore/db-client/generated/streams_pb';
import type { StoredEvent } from '@app/kernel';
import { positionText } from './positions';

/** An event as the server gives it: data and metadata are the bytes that were stored. */
export const storedEvent = (event: ReadResp.ReadEvent.RecordedEvent): StoredEvent => ({
  id: event.getId()?.getString() ?? '',
  type: event.getMetadataMap().get('type') ?? '',
  data: text(event.getData_asU8()),
  metadata: text(event.getCustomMetadata_asU8()),
  stream: text(event.getStreamIdentifier()?.getStreamName_asU8()),
  revision: Number(event.getStreamRevision()),
  position: positionText(event.getCommitPosition()),
});

/** When the server stored an event, ISO 8601 UTC. It counts in steps of 100 ns since 1970. */
export const writtenAt = (event: ReadResp.ReadEvent.RecordedEvent): string => {
  const milliseconds = Math.floor(Number(event.getMetadataMap().get('created') ?? 0) / 10_000);
  return new Date(milliseconds).toISOString();
};

const text = (bytes: Uint8Array | undefined): string =>
  bytes === undefined ? '' : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
