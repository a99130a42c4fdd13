import { Worker } from 'node:worker_threads';
import type { ParserLimits } from '../extraction';

/**
 * Watches this process from a thread of its own, since parsers may never come back: it ends the process where it takes too
 * much memory or time, or where the one that started it is gone, and says why.
 */
const WATCH = `
  const { workerData: { memoryMb, seconds, parent } } = require('node:worker_threads');
  const { writeSync } = require('node:fs');
  const until = performance.now() + seconds * 1000;
  const end = (code) => {
    try { writeSync(2, ' ' + code); } finally { process.kill(process.pid, 'SIGKILL'); }
  };
  setInterval(() => {
    if (process.memoryUsage.rss() > memoryMb * 1024 * 1024) end('out_of_memory');
    if (performance.now() > until) end('timed_out');
    if (process.ppid !== parent) end('');
  }, 20);
`;

/**
 * Starts the watch. From then on this process may start no thread: one could be given more rights than the process has, as Node
 * leaves them to whoever starts it.
 */
export const startWatch = (limits: ParserLimits): Worker => {
  const watch = new Worker(WATCH, { eval: true, workerData: { ...limits, parent: process.ppid } });
  // Newer than the types; there is none where the process has every right, as in tests.
  (process as { permission?: { drop?: (scope: string) => void } }).permission?.drop?.('worker');
  return watch;
};
