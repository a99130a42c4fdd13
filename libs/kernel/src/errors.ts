/** What a refusal says beside its code: ids, field names and numbers, never content. */
export type Facts = Readonly<Record<string, string | number | boolean | null>>;

/**
 * A refusal of the domain: a stable snake_case code and the facts behind it. It knows nothing of HTTP; each surface maps
 * the code to a status in one registry (`wire.md`, Errors).
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';

  constructor(
    readonly code: string,
    readonly facts: Facts = {},
  ) {
    super(code);
  }
}

/**
 * Ends a decision with a refusal. What its facts are for: `not_found` names `kind` and `id` of what was asked for; `conflict`
 * its `reason`; `forbidden` the `permission` that is missing, or the `role` in a thing (`kind`, `id`), or a `reason`; `path`
 * is the field that is concerned. The surfaces make sentences of them.
 */
export const refuse = (code: string, facts: Facts = {}): never => {
  throw new DomainError(code, facts);
};

/** True for a refusal, optionally one with this code. By shape, since classes differ between threads and processes. */
export const isDomainError = (error: unknown, code?: string): error is DomainError =>
  error instanceof Error &&
  error.name === 'DomainError' &&
  (code === undefined || (error as DomainError).code === code);

/**
 * The store behind a port cannot serve now. `outcome` says for a write whether it may have happened: `none` is safe to
 * send again as new, `unknown` only with the same command id.
 */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';

  constructor(
    readonly dependency: string,
    readonly reason: string,
    readonly outcome: 'none' | 'unknown' = 'none',
    options?: ErrorOptions,
  ) {
    super(`${dependency} is unavailable: ${reason}`, options);
  }
}

/** The store is there and does not let this user in: no waiting helps, only another setting. */
export class AccessDenied extends Unavailable {
  readonly denied = true;
}

export const isAccessDenied = (error: unknown): boolean =>
  isUnavailable(error) && (error as Partial<AccessDenied>).denied === true;

/** A file of a store is damaged: no repetition helps, only making it anew. */
export class Damaged extends Unavailable {
  readonly damaged = true;
}

export const isDamaged = (error: unknown): boolean =>
  isUnavailable(error) && (error as Partial<Damaged>).damaged === true;

export const isUnavailable = (error: unknown): error is Unavailable =>
  error instanceof Error && error.name === 'Unavailable';

/** For the end of an exhaustive switch. */
export const never = (value: never): never => {
  throw new Error(`unexpected case ${JSON.stringify(value)}`);
};
