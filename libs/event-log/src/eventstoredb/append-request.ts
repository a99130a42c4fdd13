import { Empty, StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb';
import { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb';
import type { ExpectedRevision, NewEvent } from '@app/kernel';

/** The bytes of data and metadata go as they are, and are called JSON, which they are. */
export const appendRequest = (
  correlation: number,
  stream: string,
  events: readonly NewEvent[],
  expected: ExpectedRevision,
): BatchAppendReq => {
  const request = new BatchAppendReq();
  request.setCorrelationId(correlationId(correlation));
  request.setOptions(expecting(new BatchAppendReq.Options().setStreamIdentifier(streamIdentifier(stream)), expected));
  request.setProposedMessagesList(events.map(proposed));
  request.setIsFinal(true);
  return request;
};

export const streamIdentifier = (stream: string): StreamIdentifier =>
  new StreamIdentifier().setStreamName(bytes(stream));

const PREFIX = '00000000-0000-4000-8000-';

/** A number in the form of a UUID: the server asks for one, and every call for its own numbers alone. */
const correlationId = (number: number): UUID => new UUID().setString(PREFIX + number.toString(16).padStart(12, '0'));

/** The server answers with two 64-bit numbers instead when it broke an append off by its clock. */
export const correlationOf = (id: UUID | undefined): number => {
  const halves = id?.getStructured();
  return halves === undefined
    ? Number.parseInt(id?.getString().slice(PREFIX.length) ?? '', 16)
    : Number(BigInt.asUintN(48, BigInt(halves.getLeastSignificantBits())));
};

const expecting = (options: BatchAppendReq.Options, expected: ExpectedRevision): BatchAppendReq.Options => {
  switch (expected) {
    case 'any':
      return options.setAny(new Empty());
    case 'noStream':
      return options.setNoStream(new Empty());
    case 'streamExists':
      return options.setStreamExists(new Empty());
    default:
      return options.setStreamPosition(String(expected));
  }
};

const proposed = ({ id, type, data, metadata }: NewEvent): BatchAppendReq.ProposedMessage => {
  const message = new BatchAppendReq.ProposedMessage();
  message.setId(new UUID().setString(id));
  message.getMetadataMap().set('type', type).set('content-type', 'application/json');
  message.setData(bytes(data));
  message.setCustomMetadata(bytes(metadata));
  return message;
};

/** A plain array: the encoder takes a `Buffer` for something else. */
const bytes = (text: string): Uint8Array => encoder.encode(text);
const encoder = new TextEncoder();
