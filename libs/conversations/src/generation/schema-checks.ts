import type { Worker } from 'node:worker_threads';
import { startThread, Unavailable } from '@app/kernel';
import type { SchemaJob, SchemaVerdict } from './schema.thread';

/** How long a schema and a value may take, milliseconds. */
const JOB_MS = 2_000;
/** How long the thread is kept without work, milliseconds. */
const IDLE_MS = 30_000;
/** What a schema may take of memory, MiB. */
const MEMORY_MB = 128;

const TOO_MUCH: SchemaVerdict = { tooMuch: true };

interface Running {
  readonly worker: Worker;
  /** The thread has loaded what it needs: that is no schema's time. */
  readonly ready: Promise<void>;
}

/**
 * Checks JSON Schemas from outside, and values under them, in a thread of their own, one after another: patterns, unions and
 * `uniqueItems` can be made to take hours, and none of that time is the process's.
 */
export class SchemaChecks {
  private running: Running | undefined;
  private idle: NodeJS.Timeout | undefined;
  private last: Promise<unknown> = Promise.resolve();

  /** Throws the signal's reason where that is aborted before its turn comes. */
  check(job: SchemaJob, signal: AbortSignal): Promise<SchemaVerdict> {
    const mine = this.last.then(() => {
      signal.throwIfAborted();
      return this.run(job);
    });
    // Its own caller hears of the failure; the next check waits for its end alone.
    this.last = mine.catch(() => undefined);
    return mine;
  }

  async close(): Promise<void> {
    clearTimeout(this.idle);
    await this.last;
    await this.end();
  }

  private async run(job: SchemaJob): Promise<SchemaVerdict> {
    clearTimeout(this.idle);
    const { worker, ready } = (this.running ??= start());
    worker.ref();
    await ready;
    const verdict = await verdictOf(worker, job);
    worker.unref();
    if (verdict === undefined) await this.end();
    else this.idle = setTimeout(() => void this.end(), IDLE_MS).unref();
    return verdict ?? TOO_MUCH;
  }

  private async end(): Promise<void> {
    const { running } = this;
    this.running = undefined;
    await running?.worker.terminate();
  }
}

const start = (): Running => {
  const worker = startThread(__dirname, 'schema.thread', __filename, {
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  const ready = new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('error', () => reject(new Unavailable('schema checks', 'their thread did not start')));
  });
  return { worker, ready };
};

/** Undefined where the thread took too long, or died of what it was to check. */
const verdictOf = (worker: Worker, job: SchemaJob): Promise<SchemaVerdict | undefined> =>
  new Promise((resolve) => {
    const done = (verdict?: SchemaVerdict): void => {
      clearTimeout(timeout);
      worker.off('message', done);
      worker.off('exit', left);
      resolve(verdict);
    };
    const left = (): void => done();
    const timeout = setTimeout(left, JOB_MS);
    worker.once('message', done);
    worker.once('exit', left);
    worker.postMessage(job);
  });
