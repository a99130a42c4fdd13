import type { Worker } from 'node:worker_threads';
import { afterWaiting, reject, startThread, Unavailable } from '@app/kernel';
import type { SchemaJob, SchemaVerdict } from './schema.thread';

/** How long a schema and a value may take, milliseconds, */
const JOB_MS = 2_000;
/** and where the process computed less than that meanwhile, on a machine that is busy with others: then the thread had not its time. */
const LONGEST_MS = 5_000;
/** How often it is looked whether it did, behind the first time. */
const LOOK_MS = 250;
/** How long the thread is kept without work, milliseconds. */
const IDLE_MS = 30_000;
/** What a schema may take of memory, MiB. */
const MEMORY_MB = 128;

/** Most waiting schemas, of one user and of all: at worst two seconds each, or five on a busy machine. */
const MOST_OF_ONE = 5;
const MOST_OF_ALL = 50;

const TOO_MUCH: SchemaVerdict = { tooMuch: true };

interface Running {
  readonly worker: Worker;
  /** The thread has loaded what it needs: that is no schema's time. */
  readonly ready: Promise<void>;
}

/** For whom something is checked, until the signal ends it. */
export interface CheckFor {
  readonly userId: string;
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly begin: () => Promise<void>;
}

/**
 * Checks foreign JSON Schemas, and values against them, in a separate thread, one after another: patterns, unions and
 * `uniqueItems` can be made to take hours, and must not block the process. Users take turns.
 */
export class SchemaChecks {
  private running: Running | undefined;
  private idle: NodeJS.Timeout | undefined;
  /** By user. The user who was served last comes last. */
  private readonly waiting = new Map<string, Set<Waiting>>();
  private working: Promise<void> | undefined;

  /**
   * Throws the signal's reason if it is aborted before its turn, and `unavailable` for a schema if too many wait. A
   * value always waits: it belongs to a paid answer, and its schema was accepted before.
   */
  async check(job: SchemaJob, { userId, signal }: CheckFor): Promise<SchemaVerdict> {
    signal.throwIfAborted();
    if (job.given === undefined) this.assertCapacity(userId);
    const { promise, resolve, reject: fail } = Promise.withResolvers<SchemaVerdict>();
    // It neither rejects nor waits for who asked: the next check waits for its end alone.
    const waiting = { begin: () => this.run(job).then(resolve, fail) };
    const leave = (): void => {
      if (this.remove(userId, waiting)) fail(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    this.waiting.set(userId, (this.waiting.get(userId) ?? new Set()).add(waiting));
    this.working ??= this.work();
    return promise.finally(() => signal.removeEventListener('abort', leave));
  }

  async close(): Promise<void> {
    await this.working;
    clearTimeout(this.idle);
    await this.end();
  }

  private assertCapacity(userId: string): void {
    if ((this.waiting.get(userId)?.size ?? 0) >= MOST_OF_ONE)
      reject('unavailable', { reason: 'you have too many schemas that wait to be checked', retryAfterSeconds: 1 });
    if ([...this.waiting.values()].reduce((sum, { size }) => sum + size, 0) >= MOST_OF_ALL)
      reject('unavailable', { reason: 'too many schemas wait to be checked', retryAfterSeconds: 1 });
  }

  private async work(): Promise<void> {
    for (let next = this.next(); next !== undefined; next = this.next()) await next.begin();
    // In the same turn in which the queue was empty, so the next job starts the work again.
    this.working = undefined;
  }

  /** What waits longest of the user whose turn it is, which leaves the queue. */
  private next(): Waiting | undefined {
    const [first] = this.waiting;
    if (first === undefined) return undefined;
    const [userId, others] = first;
    const [next] = others;
    this.waiting.delete(userId);
    if (next !== undefined) others.delete(next);
    if (others.size > 0) this.waiting.set(userId, others);
    return next;
  }

  /** False where its turn has come. */
  private remove(userId: string, waiting: Waiting): boolean {
    const ofUser = this.waiting.get(userId);
    const isThere = ofUser?.delete(waiting) === true;
    if (ofUser?.size === 0) this.waiting.delete(userId);
    return isThere;
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
      inTime();
      worker.off('message', done);
      worker.off('exit', left);
      resolve(verdict);
    };
    const left = (): void => done();
    const begunAt = performance.now();
    const before = process.cpuUsage();
    const late = (): void => {
      const { user, system } = process.cpuUsage(before);
      if ((user + system) / 1_000 >= JOB_MS || performance.now() - begunAt >= LONGEST_MS) left();
      else inTime = afterWaiting(LOOK_MS, late);
    };
    let inTime = afterWaiting(JOB_MS, late);
    worker.once('message', done);
    worker.once('exit', left);
    worker.postMessage(job);
  });
