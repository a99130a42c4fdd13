import { extname, join } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** How long a thread that was asked to end may take, milliseconds. */
const ENDS_MS = 10_000;

/**
 * Starts a worker thread from a module beside the caller: `startThread(__dirname, 'log.thread', __filename,
 * options)`. Works on built output and on sources; threads inherit the test loader.
 */
export const startThread = (folder: string, name: string, caller: string, options?: WorkerOptions): Worker =>
  new Worker(join(folder, `${name}${extname(caller)}`), options);

/**
 * Resolves when a thread that was asked to end has ended. Terminates it only if it does not: cutting off native code
 * with an open database can crash the process (a segmentation fault in about 1 of 80 runs).
 */
export const threadEnds = (thread: Worker, timeoutMs = ENDS_MS): Promise<void> => {
  if (thread.threadId === -1) return Promise.resolve();
  return new Promise((resolve) => {
    const cutOff = setTimeout(() => void thread.terminate(), timeoutMs);
    thread.ref();
    thread.once('exit', () => {
      clearTimeout(cutOff);
      resolve();
    });
  });
};
