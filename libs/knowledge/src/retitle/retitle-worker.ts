import type { Claims, CoordinationStore } from '@app/coordination';
import { inReadScope } from '@app/kernel';
import { verdictOn } from '../ingestion/attempt';
import { unlessDeleted } from '../reindex/reindex-document';
import { retitleDocument, type RetitleParts } from './retitle-document';
import { type Retitle, Retitles } from './retitles';

export interface RetitleWorkerOptions extends RetitleParts {
  readonly claims: Claims;
  readonly coordination: Pick<CoordinationStore, 'list' | 'write'>;
  readonly logger: { warn(facts: object, message: string): void };
  /** How often it looks for documents, milliseconds; 1,000 by default. */
  readonly sweepMs?: number;
}

/** Embeds renamed documents behind their new titles, one at a time in each process. */
export class RetitleWorker {
  private readonly retitles: Retitles;
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> | undefined;
  /** Failures in a row of a document, and when it is tried again. */
  private readonly failed = new Map<string, { readonly failures: number; readonly retryAt: number }>();

  constructor(private readonly options: RetitleWorkerOptions) {
    this.retitles = new Retitles(options.coordination);
  }

  start(): void {
    this.timer = setInterval(() => this.sweep(), this.options.sweepMs ?? 1_000).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort(new Error('the worker is stopping'));
    await this.working;
  }

  private sweep(): void {
    this.working ??= inReadScope(() => this.workOnAll()).finally(() => (this.working = undefined));
  }

  /** Never rejects. */
  private async workOnAll(): Promise<void> {
    try {
      for (const retitle of await this.retitles.waiting()) await this.workOn(retitle);
    } catch (error) {
      if (!this.stopping.signal.aborted)
        this.options.logger.warn({ error }, 'Looking for renamed documents failed; retrying.');
    }
  }

  private async workOn(retitle: Retitle): Promise<void> {
    const { documentId, askedBy } = retitle;
    const now = this.options.clock.now().getTime();
    if (this.stopping.signal.aborted || (this.failed.get(documentId)?.retryAt ?? 0) > now) return;
    const release = await this.options.claims.take(`retitle/${documentId}`);
    if (release === undefined) return;
    try {
      const { signal } = this.stopping;
      const isDone = await unlessDeleted(() => retitleDocument(this.options, documentId, askedBy, signal));
      if (isDone !== false) await this.retitles.done(retitle);
      this.failed.delete(documentId);
    } catch (error) {
      if (!this.stopping.signal.aborted) await this.onFailure(retitle, error);
    } finally {
      await release();
    }
  }

  /** What cannot be embedded keeps its former title, in its vectors alone. */
  private async onFailure(retitle: Retitle, error: unknown): Promise<void> {
    const { documentId } = retitle;
    const failures = this.failed.get(documentId)?.failures ?? 0;
    const { code, retryInMs } = verdictOn(error, failures);
    this.options.logger.warn({ documentId, code, error }, 'Embedding a renamed document with its new title failed.');
    if (retryInMs !== null) {
      this.failed.set(documentId, { failures: failures + 1, retryAt: this.options.clock.now().getTime() + retryInMs });
      return;
    }
    this.failed.delete(documentId);
    await this.retitles.done(retitle);
  }
}
