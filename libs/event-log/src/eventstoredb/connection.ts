import type { CallOptions, Metadata } from '@grpc/grpc-js';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb';
import type { OurEvents } from '../event-log';
import { ServerFault } from './server-errors';
import { allowTlsToAddresses } from './tls-to-addresses';
import { type AppendCall, type ReadCall, type Transport, transportOf } from './transport';

/**
 * Calls over the client's channel: it reads the connection string, finds the leader, keeps the connection alive, makes a new
 * one when the server is gone, and encodes by its generated service. Its methods are not used: they lose answers, never
 * end, throw outside any promise, read JSON but not the bytes that were stored (event-sourcing reference, 6.1).
 */
export class Connection {
  private readonly transport: Transport;
  private isClosed = false;

  /** Throws when the connection string or a certificate that it names cannot be read, without repeating any of it. */
  constructor(
    url: string,
    /** Without it every event is ours. */
    readonly ours?: OurEvents,
  ) {
    try {
      this.transport = transportOf(url.replace(/^kurrentdb/, 'esdb'));
    } catch (error) {
      const what = /certificate|userCertFile/.test((error as Error).message) ? 'a certificate that the connection string names' : 'the connection string';
      throw new Error(`${what} of EventStoreDB cannot be read`);
    }
  }

  /** Begins to read; `attach` adds the listeners before anything can happen. Rejects when no server is found. */
  async read(request: ReadReq, attach: (call: ReadCall) => void): Promise<void> {
    await this.open('read', (client) => client.read(request, ...this.callArguments()), attach);
  }

  async batchAppend(attach: (call: AppendCall) => void): Promise<void> {
    await this.open('append', (client) => client.batchAppend(...this.callArguments()), attach);
  }

  /** Breaks off all calls; later ones are refused. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.transport.dispose();
  }

  /** The leader alone shows an append to whoever reads after its answer. Whoever calls watches the time. */
  private callArguments(): [Metadata, CallOptions] {
    return this.transport.callArguments({ requiresLeader: true }, { deadline: Infinity });
  }

  private async open<Call extends ReadCall | AppendCall>(name: string, create: (client: StreamsClient) => Call, attach: (call: Call) => void): Promise<void> {
    await allowTlsToAddresses();
    if (this.isClosed) throw new ServerFault('closed');
    await this.transport.GRPCStreamCreator(StreamsClient, name, (client) => {
      const call = create(client);
      attach(call);
      return call;
    })();
  }
}
