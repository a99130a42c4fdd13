import { DomainError } from '@app/kernel';
import type { ModelDescription } from '../catalogue';
import type { TokenUsage } from '../usage';

/**
 * `unreachable`: no connection. `timeout`: past the provider's `timeoutMs`. `broken`: it answered with a fault of its own or
 * ours, with garbage, or was cut; with the status 200 it made what nobody can take, and would again. `rate-limited`, `rejected`: it wants less of us, or rejects the request (400, 413, 422).
 * `open`: not asked, since it failed too often just now. `aborted`: whoever called left.
 */
export type FailureKind = 'unreachable' | 'timeout' | 'broken' | 'rate-limited' | 'rejected' | 'open' | 'aborted';

/** What is known of a failed call; `status`: of HTTP, absent where nothing was answered. */
export interface FailureFacts {
  readonly status?: number;
  /** Field and code that a rejecting provider named; short identifiers only. */
  readonly param?: string;
  readonly code?: string;
  readonly retryAfterSeconds?: number;
  /** What a provider was at work on when the call was broken off, and bills; absent where none was. */
  readonly work?: UpstreamWork;
}

/** What a provider does for a call that has not ended. */
export interface UpstreamWork {
  readonly model: ModelDescription;
  /** How long it has had for that, milliseconds: from the request until its answer broke off, or until it sees that it was left. */
  readonly ms: number;
  /** What it said that it used, where it came to the end of what is no answer. */
  readonly usage?: TokenUsage;
}

/** Why a call of a provider failed, without a word of the provider's: its texts may hold keys, hosts or other people's content. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  /** For the log: the kind, with the status where there is one, such as `broken_503`. */
  readonly code: string;

  constructor(
    readonly kind: FailureKind,
    readonly facts: FailureFacts = {},
    options?: ErrorOptions,
  ) {
    super(kind, options);
    this.code = facts.status === undefined ? kind : `${kind}_${facts.status}`;
  }

  /** Whether the same request may succeed a moment later. */
  get passing(): boolean {
    const { status } = this.facts;
    return this.kind === 'unreachable' || (this.kind === 'broken' && (status === undefined || status >= 500));
  }

  /** Whether the provider, rather than the request or its caller, is to blame. */
  get isProviders(): boolean {
    return this.passing || this.kind === 'timeout';
  }

  /** Whether the provider serves nobody for now: it is not there, overloaded or left alone, or fails with 5xx. None of it is billed. */
  get isUnavailable(): boolean {
    const { status } = this.facts;
    return (
      ['unreachable', 'open', 'rate-limited'].includes(this.kind) ||
      (this.kind === 'broken' && status !== undefined && status >= 500)
    );
  }

  /** Whether another model may do better. */
  get allowsFallback(): boolean {
    return this.kind !== 'rejected' && this.kind !== 'aborted';
  }
}

/** Whether a call to a provider ended with this error. */
export const isUpstreamFailure = (error: unknown): error is UpstreamFailure =>
  error instanceof Error && error.name === 'UpstreamFailure';

/** What ended a call: a failure, also where a client holds it as the cause of its own error, or an answer that is none. */
export const failureOf = (error: unknown): UpstreamFailure => {
  if (isUpstreamFailure(error)) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  return isUpstreamFailure(cause) ? cause : new UpstreamFailure('broken', {}, { cause: error });
};

/**
 * The same error, or the rejection that the core API, answers and documents have for a provider's failure: `upstream_timeout`, or
 * `upstream_error`, with `retryAfterSeconds` where the provider is to be left alone. The gateway's is `upstreamError`.
 */
export const upstreamRejection = (error: unknown): unknown => {
  if (!isUpstreamFailure(error)) return error;
  const { retryAfterSeconds } = error.facts;
  return new DomainError(
    error.kind === 'timeout' ? 'upstream_timeout' : 'upstream_error',
    retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
    { cause: error },
  );
};
