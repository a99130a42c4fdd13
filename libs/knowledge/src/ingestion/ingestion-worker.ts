import { inReadScope, isDomainError } from '@app/kernel';
import type { Claims } from '@app/coordination';
import { ingest, type IngestionParts } from './ingest';

/** A document that waits for ingestion, and from when on. */
export interface WaitingDocument {
  readonly documentId: string;
  /** ISO 8601 UTC. */
  readonly notBefore: string;
}

/** Documents in work at once; each may hold a hundred MB. */
const MOST_AT_ONCE = 4;
const TIMEOUT_MS = 1_000;

export interface WorkerOptions extends IngestionParts {
  readonly claims: Claims;
  /** Documents that are neither Ready nor Failed, also those that a killed worker left; the longest waiting first. */
  readonly waiting: () => Promise<readonly WaitingDocument[]>;
  /** Documents begun at once; 2 by default. */
  readonly concurrency?: number;
  /** A document that takes longer lets others begin beside it, milliseconds; 1,000 by default. */
  readonly timeoutMs?: number;
  /** How often `waiting` is asked, milliseconds; 1,000 by default. */
  readonly sweepMs?: number;
}

/**
 * Ingests documents, a few at once. `offer` hands it a document the moment it is added; the sweep finds the others: those
 * of a killed process once their claim has run out, and those whose pause after a failure is over.
 */
export class IngestionWorker {
  private readonly queue = new Set<string>();
  private readonly running = new Map<string, Promise<void>>();
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
    this.queue.clear();
    await Promise.all(this.running.values());
  }

  offer(documentId: string): void {
    if (this.stopping.signal.aborted) return;
    this.queue.add(documentId);
    this.fill();
  }

  /** Documents in work now. */
  get busy(): number {
    return this.running.size;
  }

  private async sweep(): Promise<void> {
    try {
      const now = this.options.clock.now().toISOString();
      for (const { documentId, notBefore } of await this.options.waiting())
        if (notBefore <= now) this.offer(documentId);
    } catch (error) {
      this.options.logger.warn({ error }, 'Reading waiting documents failed; retrying.');
    }
  }

  private fill(): void {
    for (const documentId of this.queue) {
      if (this.running.size - this.long.size >= (this.options.concurrency ?? 2) || this.running.size >= MOST_AT_ONCE)
        return;
      if (this.running.has(documentId)) continue;
      this.queue.delete(documentId);
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
      this.running.set(documentId, work);
    }
  }

  /** Never rejects. A document that failed here stays waiting, and the sweep brings it back. */
  private async work(documentId: string): Promise<void> {
    try {
      const release = await this.options.claims.take(`ingestion/${documentId}`);
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
