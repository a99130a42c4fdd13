import { type AddressInfo, createServer, type Server as NetServer, type Socket } from 'node:net';
import type { Member } from './discovery';
import { type Faults, noFaults } from './faults';
import { Journal } from './journal';
import { endlessLag, type Lag, noLag, seededLag } from './lag';
import { noPauses, Pause, pauseNowAndThen, type Pauses, REAL_PAUSES } from './pausing';
import { ServerLog } from './server-log';
import { credentialsOf, grpcServer, type ServerCertificate } from './service';
import type { Serving, ServerVersion } from './serving';
import { runStandardProjections } from './standard-projections';
import { consumerTooSlow } from './statuses';

export interface DoubleOptions {
  /** On 127.0.0.1; any free one by default, the same after `restart`. */
  readonly port?: number;
  /** Answers as this version does where they differ; 24.10.4 by default. */
  readonly version?: ServerVersion;
  /** Keeps the log over the end of the process, also by SIGKILL. In memory only by default. */
  readonly file?: string;
  /** Serves TLS with it. */
  readonly tls?: ServerCertificate;
  /** Passwords by name. Where given, callers without credentials are denied and wrong ones rejected. */
  readonly users?: Readonly<Record<string, string>>;
  /** Users who may write and read streams, and not `$all`, as all but administrators on a server as it is installed. */
  readonly mayNotReadAll?: readonly string[];
  /** Runs the standard projections: links and statistics come between other events. */
  readonly projections?: boolean;
  /** Most bytes of one append; 1,048,576 by default. */
  readonly maxAppendSize?: number;
  /** Most bytes of one event, as KurrentDB limits it from 25.1 on; no limit by default. */
  readonly maxEventSize?: number;
  /** How long an append may stay without its last part; 2,000 ms by default. */
  readonly writeTimeoutMs?: number;
  /** How long each write takes until it is shown and acknowledged; as on a real server by default, `noLag` for measuring. */
  readonly lag?: Lag;
  /** How often it stands still while it has much to do; as a real server by default, `noPauses` for measuring. */
  readonly pauses?: Pauses | undefined;
  /** The log that it serves together with others, as the nodes of a cluster do; its own by default. */
  readonly log?: ServerLog;
  /** The cluster that it is part of; itself by default. */
  readonly members?: () => readonly Member[];
}

/** A server on loopback that answers as EventStoreDB does, from the client's own generated services. */
export interface EventStoreDouble {
  /**
   * Connection string, such as `esdb://127.0.0.1:2113?tls=false`. With TLS `esdb://localhost:2113?tls=true`, since Node
   * rejects an address as the name of a TLS server; a test adds `tlsCAFile` and the user.
   */
  readonly url: string;
  readonly port: number;
  /** What it does wrong; set at any time, kept over a restart. */
  readonly faults: Faults;
  /** Breaks every connection, as a network does; clients may come back at once. */
  disconnect(): void;
  /** Ends every open subscription with ABORTED "Consumer too slow", as 23.10 does to a listener that is a moment too slow. */
  dropListeners(): void;
  /** Shows and acknowledges at once all that waits for it. */
  showAll(): void;
  /** Appends and deletions that are decided and not shown yet. */
  waiting(): number;
  /** Subscriptions that are open. */
  listeners(): number;
  /** Messages received for a method, such as `Streams/BatchAppend`, while it was paused too. */
  received(method: string): number;
  /** Closes the port and breaks every connection. */
  stop(): Promise<void>;
  /** Stops if needed and starts again on the same port with the same log; the memory of repeats at `any` and `streamExists` is gone. */
  restart(): Promise<void>;
}

/**
 * Starts a double of EventStoreDB 24.10.4 (or 23.10.6) on loopback: appends, reads, subscriptions, deletion, metadata,
 * gossip and server features. As there, a write counts for refusals at once, and is shown and acknowledged a little later, and
 * all stands still for 1.0 to 1.9 s now and then while there is much to do.
 * It has no persistent subscriptions, projections of one's own, resolved links, access lists of streams or scavenge, and gives ids always as
 * text. `transcript.long-spec.ts` compares its answers with those of real servers.
 */
export const startEventStoreDouble = async (options: DoubleOptions = {}): Promise<EventStoreDouble> => {
  const log =
    options.log ??
    new ServerLog(options.file === undefined ? undefined : new Journal(options.file), options.lag ?? seededLag());
  const pause = new Pause();
  const pauses = 'pauses' in options ? options.pauses : REAL_PAUSES;
  const pauseNoMore = pauses === undefined ? () => undefined : pauseNowAndThen(pause, pauses);
  const serving: Serving = {
    log,
    faults: noFaults(pause),
    version: options.version ?? '24.10.4',
    maxAppendSize: options.maxAppendSize ?? 1024 * 1024,
    maxEventSize: options.maxEventSize ?? Infinity,
    writeTimeoutMs: options.writeTimeoutMs ?? 2000,
    users: options.users,
    mayNotReadAll: new Set(options.mayNotReadAll),
    listeners: new Set(),
  };
  const sockets = new Set<Socket>();
  const state: { port: number; listening: NetServer | undefined } = { port: options.port ?? 0, listening: undefined };
  const alone = (): readonly Member[] => [
    { host: options.tls === undefined ? '127.0.0.1' : 'localhost', port: state.port, state: 'leader', isAlive: true },
  ];
  const grpc = grpcServer(serving, options.members ?? alone, pause);
  const injector = grpc.createConnectionInjector(credentialsOf(options.tls));

  const disconnect = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const start = async (): Promise<void> => {
    if (options.log === undefined) log.start();
    const listening = createServer((socket) => {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      injector.injectConnection(socket);
    });
    await new Promise<void>((resolve, reject) =>
      listening.once('error', reject).listen(state.port, '127.0.0.1', resolve),
    );
    state.port = (listening.address() as AddressInfo).port;
    state.listening = listening;
  };
  const stop = async (): Promise<void> => {
    const { listening } = state;
    if (listening === undefined) return;
    state.listening = undefined;
    const closed = new Promise<void>((resolve) => listening.close(() => resolve()));
    disconnect();
    await closed;
  };
  await start();
  if (options.projections === true) runStandardProjections(log);

  return {
    url: `esdb://${options.tls === undefined ? '127.0.0.1' : 'localhost'}:${state.port}?tls=${options.tls !== undefined}`,
    port: state.port,
    faults: serving.faults,
    disconnect,
    dropListeners: () => {
      for (const drop of serving.listeners) drop(consumerTooSlow);
    },
    showAll: () => log.showAll(),
    waiting: () => log.waiting,
    listeners: () => serving.listeners.size,
    received: (method) => pause.received.get(method) ?? 0,
    stop: async () => {
      pauseNoMore();
      await stop();
      if (options.log === undefined) log.close();
    },
    restart: async () => {
      await stop();
      await start();
    },
  };
};

export { endlessLag, noLag, noPauses };
export type { Faults, Lag, Pauses, ServerCertificate, ServerVersion };
