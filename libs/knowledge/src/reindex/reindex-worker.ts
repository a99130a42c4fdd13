import type { Claims, CoordinationStore } from '@app/coordination';
import { inReadScope, Mutex, type Position } from '@app/kernel';
import { verdictOn } from '../ingestion/attempt';
import { workerMeta } from '../ingestion/ingest';
import { IngestionFailure } from '../ingestion/ingestion-failure';
import type { IndexedFacts, IndexedDocuments, RunningReindexes } from '../lookups';
import { catchUp, type CatchUpParts } from './catch-up';
import { type StoredLaggingDocument, LaggingDocuments } from './lagging-documents';
import { isWhole, progressOf, reindexDocument, unlessDeleted } from './reindex-document';
import { isDue, levelOf } from './reindex-plan';
import { showReindexProgress } from './reindex-progress';
import { reindexDecider, type ReindexJob } from './reindex.decider';

export interface ReindexWorkerOptions extends CatchUpParts {
  readonly claims: Claims;
  readonly coordination: CoordinationStore;
  readonly running: RunningReindexes;
  readonly documents: IndexedDocuments;
  readonly logger: { warn(facts: object, message: string): void };
  /** How often `running` is asked, milliseconds; 1,000 by default. */
  readonly sweepMs?: number;
}

/** Rounds through the documents of a job: more are needed only where some are set back while it runs. */
const MOST_ROUNDS = 10;

/** Jobs at work at once in each process, each of which holds the ids of its documents. */
const MOST_AT_ONCE = 50;

/**
 * Does the jobs that run, in each process one document at a time, of all jobs in turn: a long one holds up no others. One that a killed process left is
 * taken up once its claim has run out.
 */
export class ReindexWorker {
  private readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  /** What is worked on, by its claim. */
  private readonly working = new Map<string, Promise<void>>();
  /** One document at a time, in the order in which its jobs came to it. */
  private readonly documents = new Mutex();
  private readonly lagging: LaggingDocuments;
  /** Failures in a row of a job or a document, and when it is tried again. */
  private readonly failed = new Map<string, { readonly failures: number; readonly retryAt: number }>();

  constructor(private readonly options: ReindexWorkerOptions) {
    this.lagging = new LaggingDocuments(options.coordination);
  }

  start(): void {
    this.timer = setInterval(() => this.sweep(), this.options.sweepMs ?? 1_000).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort(new Error('the worker is stopping'));
    await this.looking;
    await Promise.all(this.working.values());
  }

  private sweep(): void {
    this.looking ??= inReadScope(() => this.beginAll()).finally(() => (this.looking = undefined));
  }

  /** Begins what is not worked on, as far as there is room. Never rejects. */
  private async beginAll(): Promise<void> {
    try {
      for (const document of await this.lagging.waiting())
        await this.begin(
          document.entry.key,
          () => this.inTurn(() => this.catchUp(document)),
          () => this.lagging.done(document),
        );
      for (const id of await this.options.running.running())
        await this.begin(
          `reindex/${id}`,
          () => this.run(id),
          (code) => this.fail(id, code),
        );
    } catch (error) {
      if (!this.stopping.signal.aborted)
        this.options.logger.warn({ error }, 'Reading running re-index jobs failed; retrying.');
    }
  }

  /** Resolves once it is begun, or cannot be now: what others work on, and what waits for another try, takes no room. */
  private async begin(
    claim: string,
    work: () => Promise<void>,
    giveUp: (code: string) => Promise<void>,
  ): Promise<void> {
    if (this.working.has(claim) || this.working.size >= MOST_AT_ONCE || this.stopping.signal.aborted) return;
    if ((this.failed.get(claim)?.retryAt ?? 0) > this.options.clock.now().getTime()) return;
    const release = await this.options.claims.take(claim);
    if (release === undefined) return;
    const done = inReadScope(() => this.workOn(claim, work, giveUp, release))
      .catch((error: unknown) =>
        this.options.logger.warn({ work: claim, error }, 'Working on a re-index failed; retrying.'),
      )
      .finally(() => this.working.delete(claim));
    this.working.set(claim, done);
  }

  /** `giveUp`: what becomes of it after a failure that does not pass. */
  private async workOn(
    claim: string,
    work: () => Promise<void>,
    giveUp: (code: string) => Promise<void>,
    release: () => Promise<void>,
  ): Promise<void> {
    try {
      await work();
      this.failed.delete(claim);
    } catch (error) {
      if (!this.stopping.signal.aborted) await this.onFailure(claim, error, giveUp);
    } finally {
      await release();
    }
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.documents.run(async () => {
      this.stopping.signal.throwIfAborted();
      return work();
    });
  }

  /** A document that was left out of a swap or a rollback. */
  private async catchUp(document: StoredLaggingDocument): Promise<void> {
    const { signal } = this.stopping;
    if ((await unlessDeleted(() => catchUp(this.options, document, signal))) !== false)
      await this.lagging.done(document);
  }

  private async run(id: string): Promise<void> {
    const { state: job, position } = await this.options.decisions.load(reindexDecider, id);
    if (job.status !== 'running') return;
    const unreadable = new Set<string>();
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const documentIds = (await this.due(job, position as Position)).filter((each) => !unreadable.has(each));
      if (!(await this.makeAll(id, job, documentIds, unreadable))) return;
      const made = await this.verified(job, documentIds, unreadable);
      if (made === undefined) continue;
      await this.decide(id, { type: 'MarkReady', jobId: job.jobId, documents: made });
      return;
    }
    await this.decide(id, { type: 'Fail', jobId: job.jobId, code: 'not_settled' });
  }

  /** False where the job does not run any more. */
  private async makeAll(
    id: string,
    job: ReindexJob,
    documentIds: readonly string[],
    unreadable: Set<string>,
  ): Promise<boolean> {
    const making = { signal: this.stopping.signal, isWanted: () => this.isRunning(id, job) };
    for (const [done, documentId] of documentIds.entries()) {
      this.stopping.signal.throwIfAborted();
      if (!(await this.isRunning(id, job))) return false;
      await showReindexProgress(this.options.coordination, id, {
        jobId: job.jobId,
        done,
        total: documentIds.length,
      });
      try {
        await this.inTurn(() => unlessDeleted(() => reindexDocument(this.options, job, documentId, making)));
      } catch (error) {
        if (!(error instanceof IngestionFailure)) throw error;
        // It was read once, by a version that could: it stays as it is.
        unreadable.add(documentId);
        this.options.logger.warn(
          { documentId, code: error.code },
          'A document could not be re-indexed. It keeps its present passages.',
        );
      }
    }
    return true;
  }

  private async isRunning(id: string, { jobId }: ReindexJob): Promise<boolean> {
    const { state } = await this.options.decisions.load(reindexDecider, id);
    return state.status === 'running' && state.jobId === jobId;
  }

  /** How many documents have whole passages of this job; undefined where one lacks them. */
  private async verified(
    job: ReindexJob,
    documentIds: readonly string[],
    unreadable: ReadonlySet<string>,
  ): Promise<number | undefined> {
    let made = 0;
    for (const documentId of documentIds) {
      this.stopping.signal.throwIfAborted();
      const found = await unlessDeleted(() => progressOf(this.options, job, documentId));
      if (found === undefined || found.is === 'none' || unreadable.has(documentId)) continue;
      if (found.is === 'due' || !(await isWhole(this.options, documentId))) return undefined;
      made += 1;
    }
    return made;
  }

  private async due(job: ReindexJob, position: Position): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const page of this.options.documents(levelOf(job), position))
      for (const facts of page) if (await this.isDue(job, facts)) found.push(facts.documentId);
    return found;
  }

  private async isDue(job: ReindexJob, facts: IndexedFacts): Promise<boolean> {
    const { models, chunkingOf } = this.options;
    const chunking = job.scope === 'instance' ? undefined : await chunkingOf({ ...job, scope: job.scope });
    return isDue(facts, { embeddingModel: models.embedding().model.key, chunking });
  }

  private async onFailure(claim: string, error: unknown, giveUp: (code: string) => Promise<void>): Promise<void> {
    const failures = this.failed.get(claim)?.failures ?? 0;
    const { code, retryInMs } = verdictOn(error, failures);
    this.options.logger.warn({ work: claim, code, error }, 'Re-indexing failed.');
    if (retryInMs !== null) {
      this.failed.set(claim, { failures: failures + 1, retryAt: this.options.clock.now().getTime() + retryInMs });
      return;
    }
    this.failed.delete(claim);
    await giveUp(code);
  }

  private async fail(id: string, code: string): Promise<void> {
    const { state } = await this.options.decisions.load(reindexDecider, id);
    if (state.status === 'running') await this.decide(id, { type: 'Fail', jobId: state.jobId, code });
  }

  private decide(id: string, command: Parameters<typeof reindexDecider.decide>[0]): Promise<unknown> {
    return this.options.decisions.transact(reindexDecider, id, command, workerMeta(this.options));
  }
}
