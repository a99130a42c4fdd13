/** Why a build failed: stable code and message. */
const FAILURES = {
  usage_limit_exceeded: 'A usage limit is reached. Build again after it resets: what was made by then is used.',
  upstream_error: 'A model failed. Build again: what was made by then is used.',
  upstream_timeout: 'A model did not answer in time. Build again: what was made by then is used.',
  model_not_available: 'The model of the Agent, or the embedding model, is not configured any more.',
  internal: 'Something failed on our side.',
} as const;

export type BuildFailureCode = keyof typeof FAILURES;

/** Codes that errors have. Others are `internal`. */
export const BUILD_FAILURES = Object.keys(FAILURES) as readonly BuildFailureCode[];

/** The message of a code, also of an earlier version. */
export const buildFailureMessage = (code: string): string =>
  Object.hasOwn(FAILURES, code) ? FAILURES[code as BuildFailureCode] : FAILURES.internal;
