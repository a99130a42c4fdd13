import { type Channel, connectivityState, credentials } from '@grpc/grpc-js';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb';
import type { Endpoint } from './connection-string';
import { ServerFault } from './server-errors';
import { type AppendCall, isSame, type ReadCall, targetOf } from './transport';

/** Milliseconds in which a connection comes about or is begun anew. */
const CONNECT_MS = 3_000;

/** A connection to one node, and the calls over it. */
export class ServerNode {
  readonly client: StreamsClient;
  private readonly calls = new Set<ReadCall | AppendCall>();
  private readonly endpoints: Endpoint[];

  private constructor(
    endpoint: Endpoint,
    readonly channel: Channel,
  ) {
    this.endpoints = [endpoint];
    this.client = new StreamsClient(targetOf(endpoint), credentials.createInsecure(), { channelOverride: channel });
  }

  /** Connects; `onLost` is told once when the connection is lost, also by the keep-alive. Throws `ServerFault` `unreachable`. */
  static async connect(endpoint: Endpoint, channel: Channel, onLost: () => void): Promise<ServerNode> {
    try {
      await ready(channel);
    } catch (error) {
      channel.close();
      throw error;
    }
    channel.watchConnectivityState(connectivityState.READY, Infinity, onLost);
    return new ServerNode(endpoint, channel);
  }

  /** A connection string may name a node otherwise than its cluster does: the one that it names the leader while it serves us is itself. */
  isAlso(endpoint: Endpoint | undefined): void {
    if (endpoint !== undefined) this.endpoints.push(endpoint);
  }

  is(endpoint: Endpoint): boolean {
    return this.endpoints.some((own) => isSame(own, endpoint));
  }

  add(call: ReadCall | AppendCall): void {
    this.calls.add(call);
    call.once('status', () => this.calls.delete(call));
  }

  /** Lets the calls under way end, and takes no more. */
  close(): void {
    this.channel.close();
  }

  /** Ends all calls; each fails. */
  breakOff(): void {
    for (const call of this.calls) call.cancel();
    this.close();
  }
}

const ready = (channel: Channel): Promise<void> =>
  new Promise((resolve, reject) => {
    const unreachable = (): void => reject(new ServerFault('unreachable'));
    const timer = setTimeout(unreachable, CONNECT_MS);
    const look = (): void => {
      const state = channel.getConnectivityState(false);
      if (state === connectivityState.IDLE || state === connectivityState.CONNECTING)
        return channel.watchConnectivityState(state, Infinity, look);
      clearTimeout(timer);
      if (state === connectivityState.READY) resolve();
      else unreachable();
    };
    channel.getConnectivityState(true);
    look();
  });
