import type { Claims } from '@app/coordination';
import { inReadScope, isDamaged, isDomainError, isUnavailable } from '@app/kernel';
import type { RunningBuilds } from '../lookups';
import { summaryIndexDecider } from '../summary-index/summary-index.decider';
import { BUILD_FAILURES } from './build-failure';
import { BuildEnded, builderMeta, buildIndex, type BuildParts } from './build';
import type { ProgressBoard } from './progress';

/** Builds at once in a process. */
const MOST_AT_ONCE = 2;
const SWEEP_MS = 1_000;
/** What is away is asked again after this long, milliseconds. */
const PAUSE_MS = 5_000;

export interface BuildWorkerParts extends Omit<BuildParts, 'progress'> {
  readonly claims: Claims;
  readonly progress: ProgressBoard;
  readonly running: RunningBuilds;
  readonly logger: { warn(facts: object, message: string): void };
}

/**
 * Builds section-summary indexes, a few at once. `offer` hands it one the moment it is started; the sweep finds the others: those of a
 * killed process once its claim has run out, and those that wait for a store or a model that is away.
 */
export class BuildWorker {
  private readonly building = new Map<string, { readonly stop: AbortController; readonly work: Promise<void> }>();
  private readonly waiting = new Set<string>();
  private readonly notBefore = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private isStopping = false;

  constructor(private readonly parts: BuildWorkerParts) {}

  start(): void {
    this.timer = setInterval(() => void this.sweep(), SWEEP_MS).unref();
  }

  /** Stops running builds as soon as possible. The next worker goes on with them. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearInterval(this.timer);
    this.waiting.clear();
    for (const { stop } of this.building.values()) stop.abort(new BuildEnded());
    await Promise.all([...this.building.values()].map(({ work }) => work));
  }

  offer(agentId: string): void {
    if (this.isStopping || this.building.has(agentId)) return;
    this.waiting.add(agentId);
    this.fill();
  }

  /** Ends the call that a cancelled build is waiting for, in any process. */
  async interrupt(agentId: string): Promise<void> {
    const building = this.building.get(agentId);
    if (building === undefined) await this.parts.claims.ask(claimOf(agentId));
    else building.stop.abort(new BuildEnded());
  }

  private async sweep(): Promise<void> {
    try {
      const now = performance.now();
      for (const agentId of await this.parts.running())
        if ((this.notBefore.get(agentId) ?? 0) <= now) this.offer(agentId);
    } catch (error) {
      this.parts.logger.warn({ error }, 'Reading running builds of summary indexes failed; retrying.');
    }
  }

  private fill(): void {
    for (const agentId of this.waiting) {
      if (this.building.size >= MOST_AT_ONCE) return;
      this.waiting.delete(agentId);
      const stop = new AbortController();
      const work = inReadScope(() => this.work(agentId, stop)).finally(() => {
        this.building.delete(agentId);
        this.fill();
      });
      this.building.set(agentId, { stop, work });
    }
  }

  /** Never rejects. A build that does not end here goes on at a later sweep. */
  private async work(agentId: string, stop: AbortController): Promise<void> {
    const { claims, progress, logger } = this.parts;
    try {
      const release = await claims.take(claimOf(agentId), () => stop.abort(new BuildEnded()));
      if (release === undefined) return;
      try {
        await this.build(agentId, stop.signal);
      } finally {
        try {
          await progress.clear(agentId);
        } finally {
          await release();
        }
      }
    } catch (error) {
      if (error instanceof BuildEnded) return;
      this.notBefore.set(agentId, performance.now() + PAUSE_MS);
      logger.warn({ agentId, error }, 'Building a summary index failed; retrying.');
    }
  }

  private async build(agentId: string, signal: AbortSignal): Promise<void> {
    const { decisions, progress } = this.parts;
    const { state } = await decisions.load(summaryIndexDecider, agentId);
    const running = state.status === 'present' ? state.running : null;
    if (running === null) return;
    const show: BuildParts['progress'] = (_, build, done, total) => progress.show(agentId, { build, done, total });
    try {
      await buildIndex({ ...this.parts, progress: show }, agentId, signal);
    } catch (error) {
      if (signal.aborted || error instanceof BuildEnded || (isUnavailable(error) && !isDamaged(error))) throw error;
      const code = BUILD_FAILURES.find((known) => isDomainError(error, known)) ?? 'internal';
      this.parts.logger.warn({ agentId, code, error }, 'A build of a summary index failed.');
      const command = { type: 'Fail' as const, build: running.build, code };
      await decisions.transact(summaryIndexDecider, agentId, command, builderMeta(this.parts));
    }
  }
}

const claimOf = (agentId: string): string => `summary-index/${agentId}`;
