import { isDomainError, isUnavailable } from '@app/kernel';

/** How long a search waits for a model that it can do without, milliseconds. The local one takes a second to start, more beside other work. */
const TIMEOUT_MS = 5_000;

/** Stands for what a model did not give: it is down, slow, or left alone since it failed too often. */
export class ModelUnavailable extends Error {
  override readonly name = 'ModelUnavailable';
}

/**
 * The result of a model call, or `ModelUnavailable` if it fails or takes too long. Everything else is thrown:
 * `usage_limit_exceeded`, and the reason of a caller who leaves.
 */
export const inTime = async <Answer>(
  caller: AbortSignal,
  call: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer | ModelUnavailable> => {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await call(AbortSignal.any([caller, timeout]));
  } catch (error) {
    caller.throwIfAborted();
    if (
      timeout.aborted ||
      isUnavailable(error) ||
      isDomainError(error, 'upstream_error') ||
      isDomainError(error, 'upstream_timeout')
    )
      return new ModelUnavailable('the model does not answer', { cause: error });
    throw error;
  }
};
