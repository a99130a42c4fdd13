import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventLog, openSqliteEventLog } from '@app/event-log';
import { openMongoReadStore } from '@app/read-store';
import { counted, countersProjecting, opened } from '../../fixtures/counters';
import { ownTime } from '../../fixtures/own-time';
import { type CounterStores, failuresOf } from '../projecting/counter-stores';

interface MongoCounters extends CounterStores {
  /** Opens all of it again, as after a restart; it is not started. */
  reopen(): Promise<MongoCounters>;
}

/** The counters: their log in a temporary folder, their view on a server. `projecting` is not started yet. */
export const openMongoCounters = async (
  url: string,
  folder = mkdtempSync(join(tmpdir(), 'mongo-counters-')),
): Promise<MongoCounters> => {
  const log = await openSqliteEventLog({ folder });
  const readStore = await openMongoReadStore({ url });
  const projecting = countersProjecting(log, readStore);
  const end = async (): Promise<void> => {
    await projecting.stop();
    await readStore.close();
    await log.close();
  };
  const close = async (): Promise<void> => {
    await end();
    rmSync(folder, { recursive: true });
  };
  const reopen = async (): Promise<MongoCounters> => {
    await end();
    return openMongoCounters(url, folder);
  };
  return { log, readStore, projecting, failures: failuresOf(projecting), close, reopen };
};

/** Opens counters and counts them up at an even pace, some fifty events a second, until stopped. */
export const startPacedWriter = (log: EventLog): (() => Promise<void>) => {
  let stopped = false;
  const write = async (): Promise<void> => {
    for (let turn = 0; !stopped; turn += 1) {
      const stream = `counter-${turn}`;
      await log.append(stream, [opened(stream)], 'noStream');
      for (let revision = 0; revision < 5 && !stopped; revision += 1) {
        await log.append(stream, [counted(revision + 1)], revision);
        await lasting(20);
      }
    }
  };
  const writing = write();
  return () => {
    stopped = true;
    return writing;
  };
};

/** Milliseconds that work takes, and how it ended. */
export const timed = async (
  work: () => Promise<unknown>,
): Promise<{ readonly milliseconds: number; readonly outcome: PromiseSettledResult<unknown> }> => {
  const took = ownTime();
  const [outcome] = (await Promise.allSettled([work()])) as [PromiseSettledResult<unknown>];
  return { milliseconds: took(), outcome };
};

/** A fault has a length: what is waited for here is its end. */
export const lasting = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
