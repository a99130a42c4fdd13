import { extname, join } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** How long a thread that was asked to end may take, milliseconds. */
const ENDS_MS = 10_000;

/**
 * Starts a worker thread from a module beside the caller: `startThread(__dirname, 'log.thread', __filename, options)`.
 * The same call works on built output and on sources, where the test loader is inherited by the thread.
 */
export const startThread = (folder: string, name: string, caller: string, options?: WorkerOptions): Worker =>
  new Worker(join(folder, `${name}${extname(caller)}`), options);

/**
 * Resolves when a thread that was asked to end has ended. Only where it does not is it terminated: a thread that is cut off
 * while native code of it runs, with a database open, can take the process with it (a segmentation fault, once in some 80 runs).
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
