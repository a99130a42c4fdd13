import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import {
  Channel,
  type ChannelCredentials,
  type ChannelOptions,
  type ClientDuplexStream,
  type ClientReadableStream,
  credentials,
  Metadata,
} from '@grpc/grpc-js';
import type { BatchAppendReq, BatchAppendResp, ReadResp } from '@eventstore/db-client/generated/streams_pb';
import type { Endpoint, ServerAddress, TlsFiles } from './connection-string';

export type ReadCall = ClientReadableStream<ReadResp>;
export type AppendCall = ClientDuplexStream<BatchAppendReq, BatchAppendResp>;

/** An event may have 16 MiB when it was written by other means than gRPC. */
const MOST_MESSAGE_BYTES = 17 * 1024 * 1024;
/** Milliseconds between attempts to connect. */
const RECONNECT_MS = { first: 100, longest: 1_000 };
/** A name that nobody has (RFC 6761): TLS must not name a server by its address, Node 26 rejects to, and gRPC has no way to name none. */
const NO_NAME = 'address.invalid';

/** A connection to one node, made when it is first used. It shares nothing with others: what ends one leaves them as they are. */
export const channelTo = (endpoint: Endpoint, { tls, keepAlive }: ServerAddress): Channel =>
  new Channel(`dns:${targetOf(endpoint)}`, tls === undefined ? credentials.createInsecure() : trusting(tls, endpoint), {
    ...(tls !== undefined && isIP(endpoint.host) > 0 ? { 'grpc.ssl_target_name_override': NO_NAME } : {}),
    'grpc.keepalive_time_ms': keepAlive.interval,
    'grpc.keepalive_timeout_ms': keepAlive.timeout,
    'grpc.max_receive_message_length': MOST_MESSAGE_BYTES,
    'grpc.initial_reconnect_backoff_ms': RECONNECT_MS.first,
    'grpc.max_reconnect_backoff_ms': RECONNECT_MS.longest,
    'grpc.service_config_disable_resolution': 1,
    'grpc.use_local_subchannel_pool': 1,
  } satisfies ChannelOptions);

/** What goes with each call. The leader alone shows an append to whoever reads after its answer. */
export const callMetadata = (
  { connectionName, authorization }: ServerAddress,
  { requiresLeader = true } = {},
): Metadata => {
  const metadata = new Metadata();
  metadata.set('connection-name', connectionName);
  if (requiresLeader) metadata.set('requires-leader', 'true');
  if (authorization !== undefined) metadata.set('authorization', authorization);
  return metadata;
};

export const targetOf = ({ host, port }: Endpoint): string =>
  isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;

export const isSame = (one: Endpoint, other: Endpoint): boolean => one.host === other.host && one.port === other.port;

/** The certificate of a server that is named by its address must stand for that address. */
const trusting = ({ authority, user }: TlsFiles, { host }: Endpoint): ChannelCredentials =>
  credentials.createSsl(
    authority,
    user?.key,
    user?.certificate,
    isIP(host) > 0 ? { checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate) } : {},
  );
