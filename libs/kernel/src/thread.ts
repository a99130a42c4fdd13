import { extname, join } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts a worker thread from a module beside the caller: `startThread(__dirname, 'log.thread', __filename, options)`.
 * The same call works on built output and on sources, where the test loader is inherited by the thread.
 */
export const startThread = (folder: string, name: string, caller: string, options?: WorkerOptions): Worker =>
  new Worker(join(folder, `${name}${extname(caller)}`), options);
