import { TcpProxy } from '../../fixtures/tcp-proxy';
import type { Member } from './discovery';
import { type EventStoreDouble, startEventStoreDouble } from './double';
import { seededLag } from './lag';
import { noPauses } from './pausing';
import { ServerLog } from './server-log';

/** Milliseconds after which the others have a new leader: 5.0 to 5.4 s on real servers. Until then their gossip names the one that fell silent. */
const ELECTION_MS = 5_200;

/** How a node falls silent: its process stands still, or nothing passes its network. Connections stay open either way. */
export type Silence = 'paused' | 'cut off';

export interface EventStoreCluster {
  /** Connection string that names all nodes. */
  readonly url: string;
  /** Connection string that names one of them alone. */
  urlOf(node: number): string;
  /** Number of the node that leads, as the cluster has it. */
  leader(): number;
  /** Messages that all nodes received for a method, such as `Streams/BatchAppend`. */
  received(method: string): number;
  fallSilent(node: number, silence: Silence): void;
  /** Every append and read at a node is rejected with a text, null for none. */
  refuse(node: number, text: string | null): void;
  /** A node that led before is a follower now. */
  comeBack(node: number): void;
  stop(): Promise<void>;
}

/** Three nodes of EventStoreDB on one log: one leads, and when it falls silent, another one does after an election. */
export const startEventStoreCluster = async (): Promise<EventStoreCluster> => {
  const log = new ServerLog(undefined, seededLag());
  log.start();
  const nodes: { readonly double: EventStoreDouble; readonly proxy: TcpProxy }[] = [];
  const silent = new Set<number>();
  const state: { leader: number; timer: NodeJS.Timeout | undefined } = { leader: 0, timer: undefined };
  /** Nobody notices that a node is silent before the election is over. */
  const dead = new Set<number>();
  const members = (): readonly Member[] =>
    nodes.map(({ proxy }, number) => ({
      host: '127.0.0.1',
      port: proxy.port,
      state: number === state.leader ? 'leader' : 'follower',
      isAlive: !dead.has(number),
    }));
  const follow = (): void => {
    const port = nodes[state.leader]?.proxy.port ?? 0;
    for (const [number, { double }] of nodes.entries())
      double.faults.leader = number === state.leader ? null : { host: '127.0.0.1', port };
  };
  const elect = (): void => {
    for (const number of silent) dead.add(number);
    const living = nodes.findIndex((_, number) => !dead.has(number));
    if (living >= 0 && dead.has(state.leader)) state.leader = living;
    follow();
  };

  for (let number = 0; number < 3; number += 1) {
    const double = await startEventStoreDouble({ log, members, pauses: noPauses });
    nodes.push({ double, proxy: await TcpProxy.start(double.port) });
  }
  follow();

  const urlOf = (...numbers: readonly number[]): string =>
    `esdb://${numbers.map((number) => `127.0.0.1:${nodes[number]?.proxy.port ?? 0}`).join(',')}?tls=false`;
  return {
    url: urlOf(0, 1, 2),
    urlOf,
    leader: () => state.leader,
    received: (method) => nodes.reduce((sum, { double }) => sum + double.received(method), 0),
    fallSilent: (number, silence) => {
      silent.add(number);
      const node = nodes[number];
      if (node === undefined) return;
      if (silence === 'paused') node.double.faults.isPaused = true;
      else node.proxy.stall('up', 'down');
      clearTimeout(state.timer);
      state.timer = setTimeout(elect, ELECTION_MS);
    },
    refuse: (number, text) => {
      const node = nodes[number];
      if (node !== undefined) node.double.faults.refusal = text;
    },
    comeBack: (number) => {
      silent.delete(number);
      dead.delete(number);
      const node = nodes[number];
      if (node === undefined) return;
      node.proxy.resume();
      node.double.faults.isPaused = false;
    },
    stop: async () => {
      clearTimeout(state.timer);
      for (const { double, proxy } of nodes) {
        await proxy.close();
        await double.stop();
      }
      log.close();
    },
  };
};
