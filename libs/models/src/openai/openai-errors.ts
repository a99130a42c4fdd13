import { DomainError } from '@app/kernel';
import { APIError, APIUserAbortError } from 'openai';

/** The call's deadline and its caller's wish to end it, as one signal. */
export interface CallLimits {
  readonly signal: AbortSignal;
  readonly caller: AbortSignal;
  readonly deadline: AbortSignal;
}

export const limitsOf = (caller: AbortSignal, timeoutMs: number): CallLimits => {
  const deadline = AbortSignal.timeout(timeoutMs);
  return { signal: AbortSignal.any([caller, deadline]), caller, deadline };
};

/**
 * Why a call failed, without a word of the provider's: its texts may hold keys, hosts or other people's content. The
 * caller's own abort comes back as its reason.
 */
export const failure = (error: unknown, provider: string, { caller, deadline }: CallLimits): unknown => {
  if (caller.aborted) return caller.reason;
  if (deadline.aborted) return new DomainError('upstream_timeout', { provider });
  const status = error instanceof APIError && !(error instanceof APIUserAbortError) ? (error.status ?? null) : null;
  return new DomainError('upstream_error', { provider, status });
};
