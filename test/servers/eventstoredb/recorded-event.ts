import { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb';
import { ReadResp } from '@eventstore/db-client/generated/streams_pb';

/** Revision of the event that closes a stream for ever: the largest of 64 bits, which a JavaScript number holds only roughly. */
export const TOMBSTONE = 2 ** 63;

/** An event as a client proposes it. */
export interface Proposed {
  readonly id: string;
  readonly type: string;
  readonly isJson: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** An event in the log. Commit and prepare position are the same, as on a server of log version 2. */
export interface Recorded {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly position: number;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** The `ReadResp` that carries it, encoded once: readers get the same bytes. */
  readonly reply: Buffer;
}

export const recorded = (
  stream: string,
  revision: number,
  position: number,
  created: number,
  event: Proposed,
): Recorded => {
  const message = new ReadResp.ReadEvent.RecordedEvent();
  message.setId(new UUID().setString(event.id));
  message.setStreamIdentifier(streamIdentifier(stream));
  message.setStreamRevision(revisionText(revision));
  message.setCommitPosition(String(position));
  message.setPreparePosition(String(position));
  message.setData(event.data);
  message.setCustomMetadata(event.metadata);
  const described = message.getMetadataMap();
  described.set('type', event.type);
  described.set('created', `${created}0000`); // ticks of 100 ns
  described.set('content-type', event.isJson ? 'application/json' : 'application/octet-stream');
  const reply = new ReadResp().setEvent(new ReadResp.ReadEvent().setEvent(message).setCommitPosition(String(position)));
  return { stream, revision, id: event.id, type: event.type, position, created, reply: encoded(reply) };
};

/** Bytes the record takes in the log: positions are offsets, so they only grow, with gaps. */
export const recordSize = (stream: string, event: Proposed): number =>
  96 + Buffer.byteLength(stream) + Buffer.byteLength(event.type) + event.data.length + event.metadata.length;

export const revisionText = (revision: number): string =>
  revision === TOMBSTONE ? '9223372036854775807' : String(revision);

export const streamIdentifier = (stream: string): StreamIdentifier =>
  new StreamIdentifier().setStreamName(Buffer.from(stream));

export const streamName = (identifier: StreamIdentifier | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString();

export const encoded = (message: { serializeBinary(): Uint8Array }): Buffer => {
  const bytes = message.serializeBinary();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};
