/** The details of an error: ids, field names and numbers, never content. */
export type Facts = Readonly<Record<string, string | number | boolean | null>>;

/**
 * A domain error: a stable snake_case code and its facts. It knows nothing of HTTP; each API maps the code to a status in
 * one registry (`wire.md`, Errors).
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';

  constructor(
    readonly code: string,
    readonly facts: Facts = {},
    options?: ErrorOptions,
  ) {
    super(code, options);
  }
}

/**
 * Throws a `DomainError`. Facts by code: `not_found` has `kind` and `id`; `conflict` a `reason`; `forbidden` the missing
 * `permission`, or the `role` in a Space or Agent (`kind`, `id`), or a `reason`; `path` is the field concerned. Messages are
 * made from them (`rejectionSentence`).
 */
export const reject = (code: string, facts: Facts = {}): never => {
  throw new DomainError(code, facts);
};

/** True for a `DomainError`, optionally with this code. By shape, because classes differ between threads and processes. */
export const isDomainError = (error: unknown, code?: string): error is DomainError =>
  error instanceof Error &&
  error.name === 'DomainError' &&
  (code === undefined || (error as DomainError).code === code);

/**
 * A store cannot serve now. `outcome` says whether a write may have happened: after `none`, send it again as new;
 * after `unknown`, only with the same command id.
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

/** One of several things that failed, by its id. */
export interface Failure {
  readonly id: string;
  readonly error: unknown;
}

/** Of several things that were to be done some failed, each for itself; the others are done. */
export class SomeFailed extends Error {
  override readonly name = 'SomeFailed';

  /** `failures`: at least one. `all`: how many there were to do. */
  constructor(
    readonly failures: readonly Failure[],
    readonly all: number,
  ) {
    super(`${failures.length} of ${all} failed`, { cause: failures[0]?.error });
  }
}

/** The store rejects the configured user. Retrying does not help, only another setting. */
export class AccessDenied extends Unavailable {
  readonly denied = true;
}

/** True for an `Unavailable` of a server that rejects this process. */
export const isAccessDenied = (error: unknown): boolean =>
  isUnavailable(error) && (error as Partial<AccessDenied>).denied === true;

/** A file of a store is damaged. Retrying does not help, only rebuilding it. */
export class Damaged extends Unavailable {
  readonly damaged = true;
}

/** True for a `Damaged`, by its mark. */
export const isDamaged = (error: unknown): boolean =>
  isUnavailable(error) && (error as Partial<Damaged>).damaged === true;

/** True for an `Unavailable`, by its name. */
export const isUnavailable = (error: unknown): error is Unavailable =>
  error instanceof Error && error.name === 'Unavailable';

/** True if a store was unavailable and did nothing of the request. */
export const isUndone = (error: unknown): boolean => isUnavailable(error) && error.outcome === 'none';

/** For the end of an exhaustive switch. */
export const never = (value: never): never => {
  throw new Error(`unexpected case ${JSON.stringify(value)}`);
};
