import type { Worker } from 'node:worker_threads';
import { startThread, Unavailable } from '@app/kernel';
import { type Finding, findingsWithin } from '@app/screening';
import { isText } from '../loading/search-texts';
import { IdlePool } from '../idle-pool';
import { NEXT_SAVE } from './findings.messages';

/** Bytes of files that are worth a thread of their own. */
const MANY_BYTES = 512 * 1024;
/** How long a thread waits for the next save: starting one takes longer than reading many a Skill. */
const IDLE_MS = 30_000;

/** Looks for findings in the files of one save. */
export interface FileFinder {
  /** What screening finds in a file; nothing in one that is no text. Throws `Unavailable`. */
  find(bytes: Buffer): Promise<readonly Finding[]>;
  end(): void;
}

/** Looks for findings in files of Skills. Many are read in a thread of their own: others are served meanwhile. */
export class FileFindings {
  /** A thread that has read the files of a save, for the next. */
  private readonly idle: IdlePool<FindingsThread>;

  constructor(idleMs = IDLE_MS) {
    this.idle = new IdlePool((thread) => thread.end(), idleMs);
  }

  /** A finder for the files of one save, of so many bytes together. */
  finder(sizeBytes: number): FileFinder {
    if (sizeBytes < MANY_BYTES) return here();
    let thread: FindingsThread | undefined;
    return {
      find: (bytes) => {
        thread ??= this.idle.take() ?? new FindingsThread((ended) => this.idle.forget(ended));
        return thread.find(bytes);
      },
      end: () => {
        if (thread?.isFree === true) this.idle.keep(thread.forNextSave());
        else thread?.end();
      },
    };
  }

  end(): void {
    this.idle.clear();
  }
}

const here = (): FileFinder => {
  const finder = findingsWithin();
  return {
    find: async (bytes) => (isText(bytes) ? finder.slowly(bytes.toString('utf8')) : []),
    end: () => undefined,
  };
};

/** A thread that reads the files of one save at a time. It keeps no process from its end while nothing is asked. */
class FindingsThread {
  private readonly worker: Worker;
  /** Those that wait for an answer, in the order of their files. */
  private readonly asked: PromiseWithResolvers<readonly Finding[]>[] = [];
  private isEnded = false;

  constructor(private readonly whenEnded: (thread: FindingsThread) => void) {
    this.worker = startThread(__dirname, 'findings.thread', __filename);
    this.worker.unref();
    this.worker.on('message', (found: readonly Finding[]) => {
      this.asked.shift()?.resolve(found);
      if (this.asked.length === 0) this.worker.unref();
    });
    this.worker.on('error', (error) => this.fail(error));
    this.worker.on('exit', () => this.fail());
  }

  /** Whether it could take another save. */
  get isFree(): boolean {
    return !this.isEnded && this.asked.length === 0;
  }

  find(bytes: Buffer): Promise<readonly Finding[]> {
    if (this.isEnded) return Promise.reject(failed());
    const answer = Promise.withResolvers<readonly Finding[]>();
    if (this.asked.push(answer) === 1) this.worker.ref();
    this.worker.postMessage(bytes);
    return answer.promise;
  }

  forNextSave(): this {
    this.worker.postMessage(NEXT_SAVE);
    return this;
  }

  end(): void {
    void this.worker.terminate();
  }

  private fail(cause?: Error): void {
    this.isEnded = true;
    this.whenEnded(this);
    for (const { reject } of this.asked.splice(0)) reject(failed(cause));
  }
}

const failed = (cause?: Error): Unavailable =>
  new Unavailable('screening', 'the thread that reads files ended', 'none', cause === undefined ? {} : { cause });
