import { workerData } from 'node:worker_threads';
import { eventMacOf, openLogReader } from '@app/event-log/threads';
import { serveCalls } from '@app/kernel/threads';
import { eventHasher } from './event-hasher';
import type { HashingThreadData } from './spawn-event-hasher';

/** Reads and hashes the log in a separate thread with its own connection, so the serving process never waits for it. */
const serveHashes = async ({ config, sealSecret }: HashingThreadData): Promise<void> => {
  serveCalls(eventHasher(await openLogReader(config, undefined), eventMacOf(sealSecret)));
};

void serveHashes(workerData as HashingThreadData);
