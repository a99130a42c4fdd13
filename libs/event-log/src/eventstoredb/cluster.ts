import { type Channel, credentials } from '@grpc/grpc-js';
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb';
import { type ClusterInfo, MemberInfo } from '@eventstore/db-client/generated/gossip_pb';
import { Empty } from '@eventstore/db-client/generated/shared_pb';
import type { Endpoint, ServerAddress } from './connection-string';
import { callMetadata, channelTo, isSame, targetOf } from './transport';

/** Milliseconds for a node to name the leader. */
const ASK_MS = 1_000;

interface Member extends Endpoint {
  readonly leads: boolean;
}

/** The nodes of a connection string, and their leader. */
export class Cluster {
  /** When a node last named the leader, by `performance.now()`. */
  answeredAt = -Infinity;
  /** The nodes that the cluster names. The connection string may name fewer, or one name for all. */
  private members: readonly Endpoint[] = [];

  constructor(private readonly address: ServerAddress) {}

  /** True if there are other nodes to ask. A single server is not asked: it may name an address that is unreachable from here. */
  get hasOthers(): boolean {
    return this.address.discovers || this.members.length > 1;
  }

  /**
   * Asks all nodes at once, each over its own connection, which ends with the answer. While a leader is being replaced, the
   * gossip of other nodes still names it, so only a node that claims to lead counts. Undefined if none does.
   */
  async leader(): Promise<Endpoint | undefined> {
    const asked: Endpoint[] = [];
    const seek = async (endpoint: Endpoint): Promise<Endpoint> => {
      if (asked.some((other) => isSame(other, endpoint))) throw new Error('asked already');
      asked.push(endpoint);
      const named = (await this.ask(endpoint)).find(({ leads }) => leads);
      if (named === undefined) throw new Error('names no leader');
      return isSame(named, endpoint) ? endpoint : seek(named);
    };
    // If no node names a leader, there is none yet.
    return Promise.any([...this.address.endpoints, ...this.members].map(seek)).catch(() => undefined);
  }

  /**
   * Asks a node for the others, over the connection to it; without an answer, the known nodes stay. Resolves to the
   * node that it considers the leader.
   */
  async learn(channel: Channel): Promise<Endpoint | undefined> {
    const members = await this.gossip(
      new GossipClient('', credentials.createInsecure(), { channelOverride: channel }),
    ).catch(() => []);
    return members.find(({ leads }) => leads);
  }

  private async ask(endpoint: Endpoint): Promise<readonly Member[]> {
    const channel = channelTo(endpoint, this.address);
    try {
      const members = await this.gossip(
        new GossipClient(targetOf(endpoint), credentials.createInsecure(), { channelOverride: channel }),
      );
      this.answeredAt = performance.now();
      return members;
    } finally {
      channel.close();
    }
  }

  private async gossip(client: GossipClient): Promise<readonly Member[]> {
    const info = await new Promise<ClusterInfo>((resolve, reject) =>
      client.read(
        new Empty(),
        callMetadata(this.address, { requiresLeader: false }),
        { deadline: Date.now() + ASK_MS },
        (error, answer) => (error === null ? resolve(answer) : reject(error)),
      ),
    );
    const members = info.getMembersList().map(memberOf);
    if (members.length > 0) this.members = members;
    return members;
  }
}

const memberOf = (info: MemberInfo): Member => {
  const endpoint = info.getHttpEndPoint();
  return {
    host: endpoint?.getAddress() ?? '',
    port: endpoint?.getPort() ?? 0,
    leads: info.getState() === MemberInfo.VNodeState.LEADER && info.getIsAlive(),
  };
};
