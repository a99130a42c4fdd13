import { isDomainError } from '@app/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { InvalidInput } from './invalid-input';
import { wrongCompatibleKeySentence } from './key-sentences';
import { problemOf } from './problem';

/** What the envelope of the compatible API holds beside its message. */
interface Named {
  readonly type?: string;
  /** The field that is wrong, as in code: `messages[2].content`. */
  readonly param?: string | null;
  readonly code?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log. */
  readonly cause?: Error;
}

/** A rejection or failure of the compatible API, as its client sees it. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly status: number,
    message: string,
    {
      type = status >= 500 ? 'server_error' : 'invalid_request_error',
      param = null,
      code = null,
      headers = {},
      cause,
    }: Named = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.type = type;
    this.param = param;
    this.code = code;
    this.headers = headers;
  }

  /** The envelope, its four keys always there; its characters all ASCII. */
  get body(): string {
    const { message, type, param, code } = this;
    return JSON.stringify({ error: { message, type, param, code } }).replace(
      /[\u007f-\uffff]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  }
}

const BASE = /^\/api\/compat\/v1(?:[/?]|$)/;

/** Whether a request belongs to the compatible API, however its path is written. */
export const isCompatible = (request: FastifyRequest): boolean =>
  BASE.test(request.url) || BASE.test(request.routeOptions.url ?? '');

export const sendEnvelope = (reply: FastifyReply, error: GatewayError): void => {
  if (error.status === 408 || error.status === 413) reply.header('connection', 'close');
  void reply
    .code(error.status)
    .headers(error.headers)
    .header('content-type', 'application/json; charset=utf-8')
    .send(error.body);
};

export const unknownUrl = (sentence: string): GatewayError =>
  new GatewayError(404, `Unknown request URL. ${sentence}`, { code: 'unknown_url' });
export const wrongMethod = (sentence: string): GatewayError =>
  new GatewayError(405, sentence, { code: 'method_not_allowed' });

/** Converts any error to an envelope. An unexpected error reveals nothing about itself. */
export const envelopeOf = (error: unknown): GatewayError => {
  if (error instanceof GatewayError) return error;
  if (error instanceof InvalidInput) return invalid(error);
  const { code, status, detail, retryAfterSeconds } = problemOf(error);
  switch (code) {
    case 'unauthenticated':
      return new GatewayError(
        401,
        wrongCompatibleKeySentence(isDomainError(error) ? error.facts['reason'] : undefined),
        { code: 'invalid_api_key' },
      );
    case 'usage_limit_exceeded':
      return new GatewayError(429, detail, {
        type: 'rate_limit_error',
        code,
        headers: { 'x-should-retry': 'false', ...soon(retryAfterSeconds) },
      });
    case 'rate_limited':
      return new GatewayError(429, detail, {
        type: 'rate_limit_error',
        code: 'rate_limit_exceeded',
        headers: { 'retry-after': String(retryAfterSeconds ?? 1) },
      });
    case 'not_found':
      return unknownUrl('The documentation starts at /docs.');
    case 'invalid_body':
      return new GatewayError(400, detail);
    default:
      return new GatewayError(status, detail, {
        code: status === 500 ? null : code,
        ...(status === 503 ? { headers: { 'retry-after': String(retryAfterSeconds ?? 1) } } : {}),
      });
  }
};

/** Clients wait for what comes within a minute, and not longer. */
const soon = (seconds: number | undefined): Readonly<Record<string, string>> =>
  seconds !== undefined && seconds <= 60 ? { 'retry-after': String(seconds) } : {};

const invalid = ({ faults }: InvalidInput): GatewayError => {
  const [fault] = faults;
  if (fault === undefined || fault.code === 'invalid_json')
    return new GatewayError(400, 'We could not parse the JSON body of your request.');
  return new GatewayError(400, fault.message, { param: fault.path === '' ? null : fault.path, code: 'invalid_value' });
};
