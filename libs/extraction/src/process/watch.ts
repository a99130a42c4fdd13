import { Worker } from 'node:worker_threads';
import type { ParserLimits } from '../extraction';

/** What a process may take. */
export interface WatchLimits extends Pick<ParserLimits, 'memoryMb' | 'seconds'> {
  /** Of the processors, from the start of the watch; as long as the clock says without. */
  readonly cpuSeconds?: number;
  /** The process that started this one. By the time this one runs, it may be gone and have left it to another. */
  readonly parent: number;
}

/** What a process may take beside its limits, once it knows how much there is to read. */
export type MoreAllowed = Required<Pick<WatchLimits, 'memoryMb' | 'cpuSeconds'>>;

/** A watch that runs. */
export interface Watch {
  allow(more: MoreAllowed): void;
  terminate(): Promise<number>;
}

/**
 * Watches this process from a thread of its own, since parsers may never come back: it ends the process where it takes too
 * much memory or time, or where the one that started it is gone, and says why.
 */
const WATCH = `
  const { parentPort, workerData } = require('node:worker_threads');
  let { memoryMb, cpuSeconds } = workerData;
  const { seconds, parent } = workerData;
  const { writeSync } = require('node:fs');
  const until = performance.now() + seconds * 1000;
  const before = process.cpuUsage();
  const used = () => { const { user, system } = process.cpuUsage(before); return (user + system) / 1e6; };
  const end = (code) => {
    try { writeSync(2, ' ' + code); } finally { process.kill(process.pid, 'SIGKILL'); }
  };
  parentPort.on('message', (more) => { memoryMb += more.memoryMb; cpuSeconds += more.cpuSeconds; });
  setInterval(() => {
    if (process.memoryUsage.rss() > memoryMb * 1024 * 1024) end('out_of_memory');
    if (performance.now() > until || used() > cpuSeconds) end('timed_out');
    if (process.ppid !== parent) end('');
  }, 20);
`;

/**
 * Starts the watch. From then on this process may start no thread: one could be given more rights than the process has, as Node
 * leaves them to whoever starts it.
 */
export const startWatch = (limits: WatchLimits): Watch => {
  const watch = new Worker(WATCH, {
    eval: true,
    workerData: { cpuSeconds: Infinity, ...limits },
  });
  // Newer than the types; there is none where the process has every right, as in tests.
  (process as { permission?: { drop?: (scope: string) => void } }).permission?.drop?.('worker');
  return { allow: (more) => watch.postMessage(more), terminate: () => watch.terminate() };
};
