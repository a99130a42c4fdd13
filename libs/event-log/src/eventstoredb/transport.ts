import type { CallOptions, ClientDuplexStream, ClientReadableStream, Metadata } from '@grpc/grpc-js';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb';
import type { BatchAppendReq, BatchAppendResp, ReadResp } from '@eventstore/db-client/generated/streams_pb';

export type ReadCall = ClientReadableStream<ReadResp>;
export type AppendCall = ClientDuplexStream<BatchAppendReq, BatchAppendResp>;

/** What the client (@eventstore/db-client 6.2) sends its own methods' calls with: protected in its types, so a look past them is needed. */
export interface Transport {
  GRPCStreamCreator<Call extends ReadCall | AppendCall>(client: typeof StreamsClient, name: string, create: (client: StreamsClient) => Call): () => Promise<Call>;
  callArguments(options: { readonly requiresLeader: boolean }, callOptions: CallOptions): [Metadata, CallOptions];
  /** The channel to a server, made at the first call. */
  getChannel(): Promise<{ readonly internalChannel: { readonly credentials: Credentials }; close(): void }>;
  dispose(): Promise<void>;
}

/** The parts of gRPC's own credentials that `allowTlsToAddresses` reaches for. */
export interface Credentials {
  _createSecureConnector(...given: unknown[]): { readonly connectionOptions: { servername?: string } };
}

/** Throws when the connection string or a certificate that it names cannot be read. The client has these members, but its types keep them to itself. */
export const transportOf = (url: string): Transport => EventStoreDBClient.connectionString(url) as unknown as Transport;
