import { Metadata, status } from '@grpc/grpc-js';
import {
  BadRequest,
  AccessDenied,
  MaximumAppendSizeExceeded,
  StreamDeleted,
  Timeout,
  WrongExpectedVersion,
} from '@eventstore/db-client/generated/shared_pb';
import { Status } from '@eventstore/db-client/generated/status_pb';
import { BinaryWriter } from 'google-protobuf';
import { Any } from 'google-protobuf/google/protobuf/any_pb';
import { Empty } from 'google-protobuf/google/protobuf/empty_pb';
import { ANY, NO_STREAM, STREAM_EXISTS } from './commit-check';
import { revisionText, streamIdentifier } from './recorded-event';

/** How a call ends that fails: status, text and trailers, as the server words them. */
export interface Failure {
  readonly code: status;
  readonly details: string;
  readonly metadata?: Metadata;
}

const failure = (code: status, details: string, trailers: Readonly<Record<string, string>> = {}): Failure => {
  const metadata = new Metadata();
  // Trailers are ASCII; the server replaces what is not.
  for (const [key, value] of Object.entries(trailers)) metadata.set(key, value.replaceAll(/[^\x20-\x7e]/g, '?'));
  return { code, details, metadata };
};

export const unavailable: Failure = failure(status.UNAVAILABLE, 'Connection dropped');
export const messageTooLarge: Failure = failure(
  status.RESOURCE_EXHAUSTED,
  'Received message exceeds the maximum configured message size.',
);
export const handlerThrew: Failure = failure(status.UNKNOWN, 'Exception was thrown by handler.');
export const invalidPosition: Failure = failure(status.INVALID_ARGUMENT, 'Trying to read from an invalid position.');
export const wrongPassword: Failure = failure(status.UNAUTHENTICATED, 'Bad gRPC response. HTTP status code: 401');
export const accessDenied: Failure = failure(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
export const timedOut: Failure = failure(status.ABORTED, 'Operation timed out: Commit phase timeout.');
export const consumerTooSlow: Failure = failure(
  status.ABORTED,
  'Operation timed out: Consumer too slow to handle event while live. Client resubscription required.',
);

/** A read is told in other words than an append that the server has too much to do. */
export const refused = (text: string): Failure =>
  failure(status.UNAVAILABLE, text === 'Server Is Busy' ? 'Server Is Too Busy' : text);
export const unexpectedResult = (kind: 'ReadStreamResult' | 'ReadAllResult', result: string): Failure =>
  failure(status.UNKNOWN, `Unexpected ${kind}: ${result}`);
export const maximumSizeExceeded = (most: number): Failure =>
  failure(status.INVALID_ARGUMENT, `Maximum Append Size of ${most} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(most),
  });
export const streamDeleted = (stream: string): Failure =>
  failure(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });
export const notLeader = ({ host, port }: { readonly host: string; readonly port: number }): Failure =>
  failure(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': String(port),
  });
export const wrongExpectedVersion = (operation: string, stream: string, expected: number, actual: number): Failure =>
  failure(
    status.FAILED_PRECONDITION,
    `${operation} failed due to WrongExpectedVersion. Stream: ${stream}, Expected version: ${expected}, Actual version: ${actual}`,
    {
      exception: 'wrong-expected-version',
      'stream-name': stream,
      'expected-version': String(expected),
      'actual-version': String(actual),
    },
  );

/** The failures of one append on a batch stream: they end the append, not the call. */
export const batchFailures = {
  badRequest: (text: string) => packed('BadRequest', new BadRequest().setMessage(text)),
  timeout: () => packed('Timeout', new Timeout()),
  accessDenied: () => packed('AccessDenied', new AccessDenied()),
  streamDeleted: (stream: string) =>
    packed('StreamDeleted', new StreamDeleted().setStreamIdentifier(streamIdentifier(stream))),
  maximumSizeExceeded: (most: number) =>
    packed('MaximumAppendSizeExceeded', new MaximumAppendSizeExceeded().setMaxappendsize(most)),
  /** Versions from 25.1 on limit single events, too; the generated messages do not know this one. */
  maximumEventSizeExceeded: (id: string, size: number, most: number) => {
    const writer = new BinaryWriter();
    writer.writeString(1, id);
    writer.writeUint32(2, size);
    writer.writeUint32(3, most);
    return packed('MaximumAppendEventSizeExceeded', { serializeBinary: () => writer.getResultBuffer() });
  },
  wrongExpectedVersion: (expected: number, current: number) =>
    packed('WrongExpectedVersion', wrongVersion(expected, current)),
  /** The text stands in the message: the details hold nothing that a client could unpack. */
  refused: (text: string) => new Status().setMessage(text).setDetails(any('google.protobuf.Empty', new Empty())),
};

const packed = (kind: string, details: Serializable): Status =>
  new Status().setMessage(kind).setDetails(any(`event_store.client.${kind}`, details));

interface Serializable {
  serializeBinary(): Uint8Array;
}

const any = (type: string, details: Serializable): Any => {
  const packing = new Any();
  packing.pack(details.serializeBinary(), type);
  return packing;
};

const wrongVersion = (expected: number, current: number): WrongExpectedVersion => {
  const message = new WrongExpectedVersion();
  if (current < 0) message.setCurrentNoStream(new Empty());
  else message.setCurrentStreamRevision(revisionText(current));
  if (expected === ANY) return message.setExpectedAny(new Empty());
  if (expected === STREAM_EXISTS) return message.setExpectedStreamExists(new Empty());
  if (expected === NO_STREAM) return message.setExpectedNoStream(new Empty());
  return message.setExpectedStreamPosition(revisionText(expected));
};
