import type { Worker } from 'node:worker_threads';
import { startThread, Unavailable } from '@app/kernel';
import { type Finding, findingsWithin } from '@app/screening';
import { isText } from '../loading/search-texts';

/** Bytes of files that are worth a thread of their own. */
const MANY_BYTES = 512 * 1024;

/** Looks for findings in the files of one save. */
export interface FileFinder {
  /** What screening finds in a file; nothing in one that is no text. Throws `Unavailable`. */
  find(bytes: Buffer): Promise<readonly Finding[]>;
  end(): Promise<void>;
}

/** A finder for files of so many bytes together. Many are read in a thread of their own: others are served meanwhile. */
export const fileFinder = (sizeBytes: number): FileFinder => (sizeBytes < MANY_BYTES ? here() : new InThread());

const here = (): FileFinder => {
  const finder = findingsWithin();
  return {
    find: async (bytes) => (isText(bytes) ? finder.slowly(bytes.toString('utf8')) : []),
    end: async () => undefined,
  };
};

class InThread implements FileFinder {
  private worker: Worker | undefined;
  /** Those that wait for an answer, in the order of their files. */
  private readonly asked: PromiseWithResolvers<readonly Finding[]>[] = [];

  find(bytes: Buffer): Promise<readonly Finding[]> {
    const answer = Promise.withResolvers<readonly Finding[]>();
    this.asked.push(answer);
    (this.worker ??= this.start()).postMessage(bytes);
    return answer.promise;
  }

  async end(): Promise<void> {
    await this.worker?.terminate();
  }

  private start(): Worker {
    const worker = startThread(__dirname, 'findings.thread', __filename);
    worker.on('message', (found: readonly Finding[]) => this.asked.shift()?.resolve(found));
    worker.on('error', (error) => this.fail(error));
    worker.on('exit', () => this.fail());
    return worker;
  }

  private fail(cause?: Error): void {
    this.worker = undefined;
    for (const { reject } of this.asked.splice(0)) reject(failed(cause));
  }
}

const failed = (cause?: Error): Unavailable =>
  new Unavailable('screening', 'the thread that reads files ended', 'none', cause === undefined ? {} : { cause });
