import { Server, ServerCredentials, type ServiceDefinition, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb';
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb';
import { batchAppend } from './batch-append';
import { deleteStream, tombstoneStream } from './deleting';
import { gossip, type Member, supportedMethods } from './discovery';
import { type Pause, pausing } from './pausing';
import { TOO_LARGE } from './proposed-message';
import { read } from './reading';
import type { Serving } from './serving';
import { append } from './unary-append';

/** Most bytes of one message. The library's own limit would word its refusal differently. */
const MOST_MESSAGE_BYTES = 16 * 1024 * 1024;

const limited =
  <Request>(parse: (bytes: Buffer) => Request) =>
  (bytes: Buffer): Request | typeof TOO_LARGE =>
    bytes.length > MOST_MESSAGE_BYTES ? TOO_LARGE : parse(bytes);

/** Calls at a time over one connection, as Kestrel allows; a client holds back those above. */
const MOST_STREAMS = 100;

/** The client's own generated services, except that replies to reads are bytes already and a request that is too large is a mark. */
const streams = {
  ...StreamsService,
  read: { ...StreamsService.read, responseSerialize: (reply: Buffer) => reply },
  append: { ...StreamsService.append, requestDeserialize: limited(StreamsService.append.requestDeserialize) },
  batchAppend: {
    ...StreamsService.batchAppend,
    requestDeserialize: limited(StreamsService.batchAppend.requestDeserialize),
  },
};

/** Serves the double's services on connections that are handed to it. */
export const grpcServer = (serving: Serving, members: () => readonly Member[], pause: Pause): Server => {
  const server = new Server({
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
    'grpc.max_concurrent_streams': MOST_STREAMS,
    interceptors: [pausing(pause)],
  });
  add(server, streams, {
    read: read(serving),
    append: append(serving),
    batchAppend: batchAppend(serving),
    delete: deleteStream(serving),
    tombstone: tombstoneStream(serving),
  });
  add(server, ServerFeaturesService, { getSupportedMethods: supportedMethods(serving) });
  add(server, GossipService, { read: gossip(serving, members) });
  return server;
};

/** Certificate and key as PEM. */
export interface ServerCertificate {
  readonly certificate: string;
  readonly key: string;
  /** Where given, clients must show a certificate that this one signed. */
  readonly clientAuthority?: string;
}

export const credentialsOf = (tls: ServerCertificate | undefined): ServerCredentials => {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const authority = tls.clientAuthority === undefined ? null : Buffer.from(tls.clientAuthority);
  return ServerCredentials.createSsl(
    authority,
    [{ cert_chain: Buffer.from(tls.certificate), private_key: Buffer.from(tls.key) }],
    authority !== null,
  );
};

/** The handlers' types are narrower than the library's, which knows no messages. */
const add = (server: Server, service: unknown, handlers: object): void =>
  server.addService(service as ServiceDefinition, handlers as UntypedServiceImplementation);
