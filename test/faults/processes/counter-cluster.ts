import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { type LeaseStatus, openMongoCoordinationStore } from '@app/coordination';
import { type EventLog, openEventStoreLog } from '@app/event-log';
import { retry } from '@app/kernel';
import type { Projecting } from '@app/projecting';
import { openMongoReadStore, type ReadStore } from '@app/read-store';
import { counted, opened as counterOpened } from '../../fixtures/counters';
import { sharedProjector } from '../../fixtures/shared-projector';
import { ServerProcess } from '../eventstore/server-process';
import { MongoProcess } from '../mongo/server-process';
import { kill, startProgram } from '../projecting/child-process';
import { declarations, type ProductVersion, SILENCE_MS } from './counter-views';

/** Projectors of the counters, each a process, that share a log on EventStoreDB and views on MongoDB; and one who only looks and asks. */
export interface CounterCluster {
  readonly log: EventLog;
  readonly readStore: ReadStore;
  readonly mongoUrl: string;
  /** The servers themselves, to be killed and started again. */
  readonly servers: { readonly eventstore: ServerProcess; readonly mongo: MongoProcess };
  readonly watcher: Projecting;
  /** Starts a projector; later names sort behind earlier ones. */
  start(name: string, version?: ProductVersion): Promise<ChildProcess>;
  kill(child: ChildProcess): Promise<void>;
  /** How many slices each living projector holds, in the order of their names. */
  shares(): Promise<readonly number[]>;
  /** Appends counters that were opened and counted up twice. */
  fill(streams: number): Promise<void>;
  destroy(): Promise<void>;
}

const CHILD = join('..', 'processes', 'counter-child.ts');

export const startCounterCluster = async (): Promise<CounterCluster> => {
  const [server, mongo] = await Promise.all([ServerProcess.start(), MongoProcess.start()]);
  const opened = await openEventStoreLog({ url: server.url });
  // On a busy machine an answer may be late; with the same ids an append happens once.
  const log: EventLog = Object.assign(Object.create(opened) as EventLog, {
    append: (...given: Parameters<EventLog['append']>) => retry(() => opened.append(...given)),
  });
  const readStore = await openMongoReadStore({ url: mongo.url });
  const coordination = await openMongoCoordinationStore({ url: mongo.url });
  const { projecting: watcher, leases } = sharedProjector({
    name: 'watcher',
    log,
    readStore,
    coordination,
    silenceMs: SILENCE_MS,
    projection: declarations['1.0.0'],
  });
  const running = new Set<ChildProcess>();
  return {
    log,
    readStore,
    mongoUrl: mongo.url,
    servers: { eventstore: server, mongo },
    watcher,
    start: async (name, version = '1.0.0') => {
      const child = await startProgram(CHILD, 'up', server.url, mongo.url, name, version);
      running.add(child);
      return child;
    },
    kill: async (child) => {
      running.delete(child);
      await kill(child);
    },
    shares: async () => {
      await leases.processes.status();
      return [...Map.groupBy(await leases.status(), ({ holder }: LeaseStatus) => holder ?? '')]
        .filter(([holder]) => holder !== '')
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([, units]) => units.length);
    },
    fill: async (streams) => {
      const from = Date.now();
      for (let start = 0; start < streams; start += 10) {
        await Promise.all(
          Array.from({ length: Math.min(10, streams - start) }, (_, index) => {
            const stream = `counter-${from}-${start + index}`;
            return log.append(stream, [counterOpened(stream), counted(1), counted(2)], 'noStream');
          }),
        );
      }
    },
    destroy: async () => {
      for (const child of running) await kill(child);
      await coordination.close();
      await readStore.close();
      await log.close();
      await mongo.remove();
      await server.remove();
    },
  };
};
