import { AccessDenied, Unavailable } from '@app/kernel';

/** Names of driver errors for wrong use. */
const MISUSE: ReadonlySet<string> = new Set([
  'MongoInvalidArgumentError',
  'MongoParseError',
  'MongoCompatibilityError',
  'MongoMissingCredentialsError',
  'MongoMissingDependencyError',
]);

/**
 * Codes of a server that rejects for reasons of its own: it is no primary or stops (91, 189, 10107, 11600, 11601, 11602, 13435, 13436), is too
 * slow (50, 64, 89, 202, 262), meets other writers (24, 112, 246, 251), or has no room (14031).
 */
const REJECTIONS: ReadonlySet<number> = new Set([
  6, 7, 24, 50, 64, 89, 91, 112, 133, 189, 202, 246, 251, 262, 317, 358, 9001, 10107, 11600, 11601, 11602, 13435, 13436,
  14031,
]);

/** Codes of a server that rejects the user, or an operation the user may not run. */
const DENIALS: ReadonlySet<unknown> = new Set([13, 18, 8000]);

export const DUPLICATE_KEY = 11000;

interface ServerError extends Error {
  readonly code?: unknown;
  readonly codeName?: unknown;
  readonly syscall?: unknown;
  readonly errorLabels?: readonly string[];
  readonly writeErrors?: readonly { readonly code?: unknown }[] | { readonly code?: unknown };
}

/** The server's code of an error, also of one that was wrapped. */
export const codeOf = (error: unknown): unknown => {
  const { code, cause } = error as ServerError;
  return code ?? (cause instanceof Error ? codeOf(cause) : undefined);
};

export const isDuplicateKey = (error: unknown): boolean => codeOf(error) === DUPLICATE_KEY;

/** True for a bulk write whose only failures are duplicate keys. */
export const areDuplicateKeys = (error: unknown): boolean =>
  isDuplicateKey(error) &&
  [(error as ServerError).writeErrors ?? []].flat().every(({ code }) => code === DUPLICATE_KEY);

/** True for an error of a socket, which the driver passes on as it is. */
export const isOfSocket = (error: unknown): boolean =>
  error instanceof Error && (error as ServerError).syscall !== undefined && !error.name.startsWith('Mongo');

/** True if the driver labelled the error, also one that was wrapped. */
export const hasLabel = (error: unknown, label: string): boolean =>
  error instanceof Error &&
  (((error as ServerError).errorLabels ?? []).includes(label) || hasLabel(error.cause, label));

/** Translates an error of MongoDB: `Unavailable` if the server is away or rejects, `AccessDenied` if it rejects the user. */
export const explained = (dependency: string, error: unknown, outcome: Unavailable['outcome']): unknown => {
  if (!(error instanceof Error)) return error;
  const { name, code, codeName } = error as ServerError;
  if (isNoAnswer(error))
    return new Unavailable(dependency, `MongoDB does not answer (${name})`, outcome, { cause: error });
  const rejected =
    (typeof code === 'number' && REJECTIONS.has(code)) ||
    hasLabel(error, 'TransientTransactionError') ||
    hasLabel(error, 'RetryableWriteError');
  if (DENIALS.has(code))
    return new AccessDenied(dependency, `MongoDB rejects the user (${String(codeName ?? code)})`, outcome, {
      cause: error,
    });
  return rejected
    ? new Unavailable(dependency, `MongoDB rejects requests for now (${String(codeName ?? code ?? name)})`, outcome, {
        cause: error,
      })
    : error;
};

/**
 * True when no server has judged: what a server says has a number. The driver tells broken connections under many names, a bulk
 * write's among them, but gives all its errors labels, and lets some errors of sockets through as they are.
 */
const isNoAnswer = (error: Error): boolean => {
  const { name, code, syscall, errorLabels } = error as ServerError;
  const isOfDriver = name.startsWith('Mongo') || errorLabels !== undefined;
  return typeof code !== 'number' && !MISUSE.has(name) && (isOfDriver || syscall !== undefined);
};

/** Try this often: several pooled connections may have broken at once. */
const MOST_TRIES = 3;

/** Repeats a read whose connection broke while the request was written. The driver passes such an error on, and does not repeat. */
export const repeatedRead = async <T>(read: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (!isOfSocket(error) || attempt === MOST_TRIES) throw error;
    }
  }
};
