import { AccessDenied, Unavailable } from '@app/kernel';

/** Names of driver errors for wrong use. */
const MISUSE: ReadonlySet<string> = new Set([
  'MongoInvalidArgumentError',
  'MongoParseError',
  'MongoCompatibilityError',
  'MongoMissingCredentialsError',
  'MongoMissingDependencyError',
]);

/** Codes of a server that rejects for reasons of its own, whatever is written. Any other counts as the fault of what is written. */
const REJECTIONS: ReadonlySet<number> = new Set(
  [
    // It is no primary, none yet or none any more, or stops.
    [91, 94, 189, 216, 355, 10058, 10107, 11600, 11602, 13435, 13436],
    // Its cluster does not answer, knows its data elsewhere, or cannot confirm, or sign in anew.
    [6, 7, 63, 64, 79, 89, 100, 133, 134, 150, 202, 203, 210, 211, 249, 317, 358, 391, 407, 453, 9001, 13388],
    // It is too slow, has too much to do, or no room.
    [24, 46, 50, 208, 261, 262, 264, 290, 365, 402, 433, 449, 450, 462, 14031],
    // It broke off what it was doing.
    [43, 175, 237, 279, 281, 282, 11601, 46841, 91331],
    // It met other writers, or what is left of an earlier transaction.
    [112, 225, 239, 246, 250, 251, 267, 272, 356, 363],
    // Somebody has closed it to writes.
    [371],
  ].flat(),
);

/** Labels of errors that say nothing against what was asked for. */
const PASSING_LABELS = ['TransientTransactionError', 'RetryableWriteError', 'RetryableError', 'SystemOverloadedError'];

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
    (typeof code === 'number' && REJECTIONS.has(code)) || PASSING_LABELS.some((label) => hasLabel(error, label));
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
