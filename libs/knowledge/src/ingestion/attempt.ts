import { isDamaged, isDomainError, isUnavailable } from '@app/kernel';
import { isUpstreamFailure } from '@app/models';
import type { IngestionStep, StepReport } from '../document/document.events';
import { IngestionFailure, type FailureCode } from './ingestion-failure';

/** How often an attempt is repeated after temporary failures, and the first pause, which doubles each time. */
const MAX_RETRIES = 5;
const FIRST_PAUSE_MS = 1_000;
/** A missing store is not the document's fault. It waits for the store, however long that takes. */
const LONGEST_PAUSE_MS = 30_000;
/** So it does for a provider that is away, more seldom: each try asks it, and the log keeps each. */
const LONGEST_PAUSE_FOR_PROVIDER_MS = 5 * 60_000;

/** Keeps what each step of an attempt did and how long it took. */
export class Attempt {
  readonly reports: StepReport[] = [];
  step: IngestionStep = 'parse';

  constructor(private readonly now: () => Date) {}

  /** Runs a step; `produced` counts what came of it. */
  async run<T>(step: IngestionStep, work: () => Promise<T>, produced: (result: T) => number): Promise<T> {
    this.step = step;
    const startedAt = this.now();
    const begun = performance.now();
    const result = await work();
    this.report(step, startedAt, performance.now() - begun, produced(result));
    return result;
  }

  /** Says what a step did that ran elsewhere. */
  report(step: IngestionStep, startedAt: Date, milliseconds: number, produced: number): void {
    this.step = step;
    this.reports.push({ step, startedAt: startedAt.toISOString(), milliseconds: Math.round(milliseconds), produced });
  }
}

/** What follows from a failed attempt. */
export type Verdict = { readonly code: FailureCode; readonly retryInMs: number | null };

/** Providers and stores may come back. Failures that the document itself causes stay. */
export const verdictOn = (error: unknown, failures: number): Verdict => {
  if (error instanceof IngestionFailure) return { code: error.code, retryInMs: null };
  const doubledMs = FIRST_PAUSE_MS * 2 ** failures;
  if (isProviderUnavailable(error))
    return { code: 'upstream_error', retryInMs: Math.min(doubledMs, LONGEST_PAUSE_FOR_PROVIDER_MS) };
  const pauseMs = Math.min(doubledMs, LONGEST_PAUSE_MS);
  if (isUnavailable(error) && !isDamaged(error)) return { code: 'unavailable', retryInMs: pauseMs };
  const retryInMs = failures < MAX_RETRIES ? pauseMs : null;
  // What fills a limit may be held for a moment only.
  const mayPass = (['upstream_error', 'upstream_timeout', 'usage_limit_exceeded'] as const).find((code) =>
    isDomainError(error, code),
  );
  if (mayPass !== undefined) return { code: mayPass, retryInMs };
  return { code: isUnavailable(error) ? 'unavailable' : 'internal', retryInMs };
};

const isProviderUnavailable = (error: unknown): boolean =>
  isDomainError(error, 'upstream_error') && isUpstreamFailure(error.cause) && error.cause.isUnavailable;
