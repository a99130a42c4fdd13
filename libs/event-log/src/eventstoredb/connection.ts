import { setTimeout as pause } from 'node:timers/promises';
import { type Metadata, type ServiceError, status, type StatusObject } from '@grpc/grpc-js';
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb';
import type { OurEvents } from '../event-log';
import { Cluster } from './cluster';
import { type Endpoint, readConnectionString, type ServerAddress } from './connection-string';
import type { Link } from './retry';
import { Pulse } from './pulse';
import { serverFault, ServerFault } from './server-errors';
import { ServerNode } from './server-node';
import { type AppendCall, callMetadata, channelTo, type ReadCall } from './transport';
import { whyUnreachable } from './why-unreachable';

/** Milliseconds between attempts to connect, shared by all who wait. */
const RECONNECT_MS = 100;
/**
 * If a caller waits and nothing arrives for this many milliseconds, the nodes of the cluster are asked for the leader.
 */
const SILENT_MS = 2_000;
/** Check for silence this often, milliseconds. */
const LOOK_MS = 250;
/** Milliseconds between checks of why connecting fails; longer than one check takes. */
const EXPLAIN_MS = 3_500;
/**
 * A cluster with responding nodes counts as reachable for this many milliseconds, even without a leader: longer than
 * the pause between questions.
 */
const ANSWERED_MS = 1_800;

/**
 * Calls to the leader over one connection, which only this class and gRPC make. Of the EventStoreDB client, it uses the
 * parser of connection strings and the generated services, but none of its methods: these lose answers, never end, and
 * share pending calls between all clients of a process (event-sourcing reference, 6.1). So other connections, to find
 * the leader or for a second log, cannot fail its appends.
 */
export class Connection implements Link {
  readonly pulse = new Pulse();
  private readonly address: ServerAddress;
  private readonly cluster: Cluster;
  private node: ServerNode | undefined;
  private connecting: Promise<ServerNode> | undefined;
  /** The leader that a node has named. */
  private next: Endpoint | undefined;
  private triedAt = -Infinity;
  private goneAt = -Infinity;
  private seeking: Promise<void> | undefined;
  private lookedAt = -Infinity;
  private found: ServerFault | undefined;
  private readonly timer = setInterval(() => this.watch(), LOOK_MS).unref();
  private isClosed = false;

  /** Throws `InvalidConfig` when the connection string or a certificate that it names cannot be read, without repeating any of it. */
  constructor(
    url: string,
    /** Undefined: every event is ours. */
    readonly ours?: OurEvents,
  ) {
    this.address = readConnectionString(url);
    this.cluster = new Cluster(this.address);
  }

  get lostAt(): number | undefined {
    return this.node !== undefined || performance.now() - this.cluster.answeredAt < ANSWERED_MS
      ? undefined
      : this.goneAt;
  }

  get trouble(): ServerFault | undefined {
    return this.found;
  }

  /**
   * Begins to read, unless the read was cancelled before the connection was ready. `attach` adds the listeners before
   * any event. Rejects if no server is found.
   */
  read(request: ReadReq, attach: (call: ReadCall) => void, isWanted: () => boolean): Promise<void> {
    const isQuestion = request.getOptions()?.hasSubscription() !== true;
    return this.open(
      (client, metadata) => client.read(request, metadata),
      (call) => {
        if (isQuestion) {
          this.pulse.asked();
          call.once('status', () => this.pulse.ended());
        }
        attach(call);
      },
      isWanted,
    );
  }

  /** Opens the call for appends. Its user reports when an append is sent and answered (`pulse`). */
  batchAppend(attach: (call: AppendCall) => void, isWanted: () => boolean): Promise<void> {
    return this.open((client, metadata) => client.batchAppend(metadata), attach, isWanted);
  }

  /** Ends all calls and rejects later ones. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    this.node?.breakOff();
    this.node = undefined;
  }

  private async open<Call extends ReadCall | AppendCall>(
    create: (client: StreamsClient, metadata: Metadata) => Call,
    attach: (call: Call) => void,
    isWanted: () => boolean,
  ): Promise<void> {
    const node = await this.connected();
    // A call that is cancelled immediately stays alive in gRPC (@grpc/grpc-js 1.14) as long as its connection.
    if (!isWanted()) return;
    const call = create(node.client, callMetadata(this.address));
    node.add(call);
    call.on('data', () => this.pulse.heard());
    call.on('error', (error: ServiceError) => this.failed(node, error));
    call.on('status', ({ code }: StatusObject) => (code === status.OK ? this.pulse.heard() : undefined));
    attach(call);
  }

  private async connected(): Promise<ServerNode> {
    if (this.isClosed) throw new ServerFault('closed');
    if (this.node !== undefined) return this.node;
    this.connecting ??= this.connect().finally(() => (this.connecting = undefined));
    return this.connecting;
  }

  private async connect(): Promise<ServerNode> {
    const early = this.triedAt + RECONNECT_MS - performance.now();
    if (early > 0) await pause(early);
    this.triedAt = performance.now();
    const endpoint = await this.leader();
    try {
      const node = await ServerNode.connect(endpoint, channelTo(endpoint, this.address), () => this.leave(node));
      return this.take(node);
    } catch (error) {
      this.explain(endpoint);
      throw error;
    }
  }

  private take(node: ServerNode): ServerNode {
    if (this.isClosed) {
      node.close();
      throw new ServerFault('closed');
    }
    this.node = node;
    this.found = undefined;
    this.pulse.reset();
    void this.cluster.learn(node.channel).then((leader) => node.isAlso(leader));
    return node;
  }

  /** Where to connect. A single server is the leader. */
  private async leader(): Promise<Endpoint> {
    const { next } = this;
    this.next = undefined;
    if (next !== undefined) return next;
    const [first] = this.address.endpoints;
    const leader = this.cluster.hasOthers ? await this.cluster.leader() : first;
    if (leader !== undefined) return leader;
    if (!this.address.discovers && first !== undefined) return first;
    if (performance.now() - this.cluster.answeredAt < ANSWERED_MS) throw new ServerFault('leaderless');
    this.explain(...this.address.endpoints);
    throw new ServerFault('unreachable');
  }

  /** Handles a failed call. The server may have named another one to ask. */
  private failed(node: ServerNode, error: ServiceError): void {
    const { fault } = serverFault(error);
    if (fault === 'notLeader') return this.leave(node, endpointOf(error));
    if (fault !== 'broken') this.pulse.heard();
    // The server is stopping, or no longer leads.
    if (this.cluster.hasOthers && (fault === 'broken' || fault === 'notReady') && error.code === status.UNAVAILABLE)
      this.leave(node);
  }

  /** Leaves a server. Calls in progress end by themselves. */
  private leave(node: ServerNode, next?: Endpoint): void {
    if (this.node !== node) return;
    this.node = undefined;
    this.next = next;
    this.goneAt = performance.now();
    this.pulse.reset();
    node.close();
  }

  /**
   * Asks the cluster while this node is silent. The calls are aborted and repeated only if another node leads: a slow
   * leader answers when it can, and the keep-alive ends a dead connection.
   */
  private watch(): void {
    const { node } = this;
    if (node === undefined || this.pulse.silence < SILENT_MS || !this.cluster.hasOthers) return;
    this.seeking ??= this.seek(node).finally(() => (this.seeking = undefined));
  }

  private async seek(node: ServerNode): Promise<void> {
    const leader = await this.cluster.leader();
    if (leader === undefined || node.is(leader) || this.node !== node || this.pulse.silence < SILENT_MS) return;
    this.leave(node, leader);
    node.breakOff();
  }

  /** Finds out, in the background, why servers cannot be reached. */
  private explain(...endpoints: readonly Endpoint[]): void {
    if (performance.now() - this.lookedAt < EXPLAIN_MS) return;
    this.lookedAt = performance.now();
    void this.look(endpoints);
  }

  private async look(endpoints: readonly Endpoint[]): Promise<void> {
    const faults = await Promise.all(endpoints.map((endpoint) => whyUnreachable(endpoint, this.address.tls)));
    const fault = faults.find((each) => each !== 'unreachable');
    this.found = this.node !== undefined || fault === undefined ? undefined : new ServerFault(fault);
  }
}

const endpointOf = ({ metadata }: ServiceError): Endpoint | undefined => {
  const [host] = metadata.get('leader-endpoint-host');
  const [port] = metadata.get('leader-endpoint-port');
  return host === undefined || port === undefined ? undefined : { host: String(host), port: Number(port) };
};
