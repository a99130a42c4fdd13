import { inReadScope, isDomainError } from '@app/kernel';
import type { Claims } from '@app/coordination';
import { ingest, type IngestionParts } from './ingest';

/** A document that waits for ingestion, and from when on. */
export interface WaitingDocument {
  readonly documentId: string;
  /** Empty for a global one. */
  readonly spaceId: string;
  /** Who asked for it; empty where an earlier version did not say. */
  readonly userId: string;
  /** ISO 8601 UTC. */
  readonly notBefore: string;
}

/** Most documents at once; each may need a hundred MB. One Space, and one user, leaves a place to the others. */
const MOST_AT_ONCE = 5;
const MOST_OF_ONE = MOST_AT_ONCE - 1;
const TIMEOUT_MS = 1_000;

export interface WorkerOptions extends IngestionParts {
  /** Keeps other processes from what is in work here; undefined where no other can be there. */
  readonly claims: Claims | undefined;
  /**
   * Documents that are neither Ready nor Failed, including those of a killed worker: the longest waiting of each Space.
   */
  readonly waiting: () => Promise<readonly WaitingDocument[]>;
  /** Documents of one Space begun at once; 2 by default. */
  readonly concurrency?: number;
  /** A document that takes longer lets others begin beside it, milliseconds; 1,000 by default. */
  readonly timeoutMs?: number;
  /** How often `waiting` is asked, milliseconds; 1,000 by default. */
  readonly sweepMs?: number;
}

/** Whose document it is. */
export type Share = Pick<WaitingDocument, 'spaceId' | 'userId'>;

interface Running extends Share {
  readonly work: Promise<void>;
}

/**
 * Ingests a few documents at once, with all Spaces in turn; one user takes no more places than one Space. A Space
 * without running documents starts at once, beside those that use their places. `offer` passes a document on as soon as
 * it is added. The sweep finds the others: those of a killed process (when their claim has expired, if other processes
 * are possible), and those whose pause after a failure is over.
 */
export class IngestionWorker {
  /** Documents that wait, by Space, with who asked for them. The Space that was served last comes last. */
  private readonly queues = new Map<string, Map<string, string>>();
  private readonly running = new Map<string, Running>();
  /** Documents that take long: others are begun beside them, and share the embedding model with them. */
  private readonly long = new Set<string>();
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: WorkerOptions) {}

  start(): void {
    this.timer = setInterval(() => void this.sweep(), this.options.sweepMs ?? 1_000).unref();
  }

  /** Stops running work as soon as possible. The next worker takes the documents up again. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort(new Error('the worker is stopping'));
    this.queues.clear();
    await Promise.all([...this.running.values()].map(({ work }) => work));
  }

  offer(documentId: string, { spaceId = '', userId = '' }: Partial<Share> = {}): void {
    if (this.stopping.signal.aborted) return;
    this.queues.set(spaceId, (this.queues.get(spaceId) ?? new Map()).set(documentId, userId));
    this.fill();
  }

  /** Documents in work now. */
  get busy(): number {
    return this.running.size;
  }

  private async sweep(): Promise<void> {
    try {
      const now = this.options.clock.now().toISOString();
      for (const { documentId, notBefore, ...share } of await this.options.waiting())
        if (notBefore <= now) this.offer(documentId, share);
    } catch (error) {
      this.options.logger.warn({ error }, 'Reading waiting documents failed; retrying.');
    }
  }

  private fill(): void {
    for (let next = this.next(); next !== undefined; next = this.next()) this.begin(next.documentId, next);
  }

  /** The next document that may begin, which leaves its queue. */
  private next(): (Share & { readonly documentId: string }) | undefined {
    for (const [spaceId, queue] of this.queues) {
      const found = this.hasCapacityFor(spaceId) ? this.startable(queue) : undefined;
      if (found === undefined) continue;
      const [documentId, userId] = found;
      queue.delete(documentId);
      this.queues.delete(spaceId);
      if (queue.size > 0) this.queues.set(spaceId, queue);
      return { documentId, spaceId, userId };
    }
    return undefined;
  }

  /** The first document that is not in work, of a user who has room. */
  private startable(queue: ReadonlyMap<string, string>): readonly [documentId: string, userId: string] | undefined {
    for (const waiting of queue)
      if (!this.running.has(waiting[0]) && this.ofUser(waiting[1]) < MOST_OF_ONE) return waiting;
    return undefined;
  }

  /** Running documents that a user requested, in all Spaces. */
  private ofUser(userId: string): number {
    return userId === '' ? 0 : [...this.running.values()].filter((running) => running.userId === userId).length;
  }

  private hasCapacityFor(spaceId: string): boolean {
    const { size } = this.running;
    const isAlone = ![...this.running.values()].some((running) => running.spaceId === spaceId);
    if (isAlone) return size < MOST_AT_ONCE;
    return size - this.long.size < (this.options.concurrency ?? 2) && size < MOST_OF_ONE;
  }

  private begin(documentId: string, { spaceId, userId }: Share): void {
    const timeout = setTimeout(() => {
      this.long.add(documentId);
      this.fill();
    }, this.options.timeoutMs ?? TIMEOUT_MS).unref();
    const work = inReadScope(() => this.work(documentId)).finally(() => {
      clearTimeout(timeout);
      this.long.delete(documentId);
      this.running.delete(documentId);
      this.fill();
    });
    this.running.set(documentId, { spaceId, userId, work });
  }

  /** Never rejects. A document that failed here stays waiting, and the sweep brings it back. */
  private async work(documentId: string): Promise<void> {
    try {
      const { claims } = this.options;
      const release = claims === undefined ? unclaimed : await claims.take(`ingestion/${documentId}`);
      if (release === undefined) return;
      try {
        await ingest(this.options, documentId, this.stopping.signal);
      } finally {
        await release();
      }
    } catch (error) {
      // Deleted meanwhile, or the worker is stopping.
      if (isDomainError(error, 'not_found') || this.stopping.signal.aborted) return;
      this.options.logger.warn({ documentId, error }, 'Working on a document failed; retrying.');
    }
  }
}

const unclaimed = async (): Promise<void> => undefined;
