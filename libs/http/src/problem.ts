import type { LogCorrupted } from '@app/event-log';
import {
  type DomainError,
  isDomainError,
  isUnavailable,
  sentenceAbout,
  type SomeFailed,
  type Unavailable,
  type UnreadableEvent,
} from '@app/kernel';
import { HttpException } from '@nestjs/common';
import { errorEntry, errorRegistry } from './error-registry';
import { type InputFault, InvalidInput } from './invalid-input';
import { rejectionSentence, sentenceWithout } from './rejection-sentences';
import { type UsedUp, usedUp, usedUpSentence } from './used-up';

/** A problem document: what the caller is told about an error. */
export interface Problem {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly errors?: readonly InputFault[];
  /** For a write that met an unavailable store: whether it may have happened. */
  readonly outcome?: 'none' | 'unknown';
  readonly retryAfterSeconds?: number;
  readonly limit?: UsedUp;
  /** Where a failed answer stands, also of a conversation that began with it. */
  readonly conversationId?: string;
  readonly messageId?: string;
  /** What a model said that was to be an object and is none. */
  readonly text?: string;
}

/** Converts any error to a problem. An unexpected error is `internal` and reveals nothing more. */
export const problemOf = (error: unknown): Problem => {
  if (error instanceof InvalidInput)
    return { ...named(error.code), detail: sentence(error.faults), errors: error.faults };
  if (isSomeFailed(error)) return someFailed(error);
  if (isLogDamage(error)) return logDamaged(error.place, `${error.message}.`);
  if (isUnreadableEvent(error)) return error.isNewer ? logNewer(error.place) : damagedEvent(error.place);
  if (isUnavailable(error)) return unavailable(error);
  if (isDomainError(error)) return rejection(error);
  if ((error as { code?: unknown }).code === 'FST_ERR_BAD_URL') return problemOf(malformedPath);
  return named(frameworkCode(error instanceof HttpException && error.cause instanceof Error ? error.cause : error));
};

/** What a command rejected. */
const rejection = (error: DomainError): Problem => {
  const { path, reason, retryAfterSeconds, text, conversationId, messageId } = error.facts;
  const general = named(error.code);
  const problem = { ...general, detail: rejectionSentence(error) ?? general.detail };
  const limit = error.code === 'usage_limit_exceeded' ? usedUp(error.facts) : undefined;
  return {
    ...problem,
    ...(limit === undefined ? {} : { limit, detail: usedUpSentence(limit) }),
    ...(typeof path === 'string'
      ? { errors: [{ path, code: String(reason ?? error.code), message: problem.detail }] }
      : {}),
    ...(typeof retryAfterSeconds === 'number' ? { retryAfterSeconds } : {}),
    ...(typeof conversationId === 'string' && typeof messageId === 'string' ? { conversationId, messageId } : {}),
    ...(error.code === 'no_object_generated' && typeof text === 'string' ? { text } : {}),
  };
};

const isSomeFailed = (error: unknown): error is SomeFailed => error instanceof Error && error.name === 'SomeFailed';

/** The problem of the first, with what is wrong with each. */
const someFailed = ({ failures, all }: SomeFailed): Problem => {
  const problems = failures.map(({ id, error }) => ({ id, problem: problemOf(error) }));
  const { problem: first = named('internal') } = problems[0] ?? {};
  const done = failures.length === all ? 'nothing changed' : 'the others succeeded';
  return {
    ...first,
    detail: `${failures.length} of ${all} failed; ${done}. See errors. ${first.detail}`,
    errors: problems.map(({ id, problem: { code, detail } }) => ({ path: id, code, message: detail })),
  };
};

const unavailable = ({ dependency, outcome }: Unavailable): Problem => {
  const general = named('unavailable');
  return { ...general, detail: sentenceWithout(dependency) ?? general.detail, outcome, retryAfterSeconds: 1 };
};

const malformedPath = new InvalidInput('invalid_parameter', [
  {
    path: 'path',
    code: 'malformed',
    message: 'The path has a percent sign that is not followed by two hexadecimal digits of UTF-8.',
  },
]);

/** Damage of the log is said with its place, which is no content: an auditor must find it. */
const isLogDamage = (error: unknown): error is LogCorrupted => error instanceof Error && error.name === 'LogCorrupted';

const isUnreadableEvent = (error: unknown): error is UnreadableEvent =>
  error instanceof Error && error.name === 'UnreadableEvent';

/** Not as this program or an earlier one writes it, though it says so. */
const damagedEvent = (place: string): Problem =>
  logDamaged(place, `the log is damaged at ${place}: the event there cannot be read.`);

const logNewer = (place: string): Problem => ({
  ...named('log_newer'),
  detail: `A later version of the platform wrote the event at ${place}. Ask the operator to start that version here, or a later one.`,
  errors: [{ path: place, code: 'log_newer', message: named('log_newer').detail }],
});

const logDamaged = (place: string, detail: string): Problem => ({
  ...named('log_damaged'),
  detail,
  errors: [{ path: place, code: 'log_damaged', message: named('log_damaged').detail }],
});

const named = (code: string): Problem => {
  const entry = errorEntry(code);
  return entry === undefined ? { code: 'internal', ...errorRegistry.internal } : { code, ...entry };
};

const byFrameworkCode: Readonly<Record<string, string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_REQ_FILE_TOO_LARGE: 'too_large',
  FST_FILES_LIMIT: 'too_large',
  FST_PARTS_LIMIT: 'too_large',
  FST_FIELDS_LIMIT: 'too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_INVALID_MULTIPART_CONTENT_TYPE: 'unsupported_media_type',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
};

/** Fastify and Nest reject some requests themselves: before a route is found, while a body is read. */
const frameworkCode = (error: unknown): string => {
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  if (typeof code === 'string' && Object.hasOwn(byFrameworkCode, code)) return byFrameworkCode[code] as string;
  const status = error instanceof HttpException ? error.getStatus() : statusCode;
  if (status === 404) return 'not_found';
  return typeof status === 'number' && status >= 400 && status < 500 ? 'invalid_body' : 'internal';
};

const sentence = (faults: readonly InputFault[]): string => {
  const [first] = faults;
  if (first === undefined) return errorRegistry.invalid_body.detail;
  // Several things may be wrong with one field.
  const others = new Set(faults.map(({ path }) => path)).size - 1;
  const more = others > 0 ? ` ${others} more ${others === 1 ? 'field is' : 'fields are'} wrong: see errors.` : '';
  return `${first.path === '' ? first.message : sentenceAbout(first.path, first.message)}${more}`;
};
