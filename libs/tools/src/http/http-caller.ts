import type { Readable } from 'node:stream';
import { Semaphore } from '@app/kernel';
import { Client, errors } from 'undici';
import { AddressNotAllowed, type GuardOptions, guardedConnector } from '../network/guarded-connector';
import { inputFault } from '../openapi/input-fault';
import type { ToolOperation } from '../openapi/operations';
import { type AnswerText, answerText, MOST_BYTES, UnreadableAnswer } from './answer';
import { type ToolRequest, requestOf, UnsendableInput } from './request';
import { credentialsOf, withoutSecret } from './secret';

/** How long a call may take, milliseconds, from the moment that it is its turn. */
const CALL_MS = 10_000;
const CONNECT_MS = 5_000;
/** Calls at once: of one Agent, and of the process. */
const AT_ONCE_OF_AGENT = 8;
const AT_ONCE = 64;
/** Most characters of an input, as JSON. */
const LONGEST_INPUT = 64 * 1024;

/** One call of a tool. */
export interface HttpCall {
  readonly agentId: string;
  readonly operation: ToolOperation;
  readonly baseUrl: string;
  /** Undefined where the tool has none. */
  readonly secret: string | undefined;
  /** As the model gave it. */
  readonly input: unknown;
  readonly signal: AbortSignal;
}

/** What the model is told. */
export interface CallResult {
  /** JSON: `{ status, body, truncated? }` of what the API answered, or `{ error }`. */
  readonly output: string;
  readonly isError?: true;
  /** Why there is no answer, for logs. */
  readonly reason?: FailureReason;
}

export type FailureReason =
  'invalid_input' | 'no_secret' | 'address_not_allowed' | 'timeout' | 'unreachable' | 'unreadable' | 'redirect';

/** Where tools may call; `callMs`: most milliseconds of a call. */
export interface HttpCallerOptions extends Pick<GuardOptions, 'privateHosts' | 'resolve'> {
  readonly callMs?: number;
}

/**
 * Calls operations of HTTP APIs for models: on the public internet alone, by a connection of its own for each, without following
 * redirects, within limits of time and size. Whatever goes wrong is a result for the model, without secrets and without a word of
 * the network's errors, which may name addresses.
 */
export class HttpCaller {
  private readonly all = new Semaphore(AT_ONCE);
  private readonly ofAgents = new Map<string, { readonly calls: Semaphore; waiting: number }>();
  private readonly connect: ReturnType<typeof guardedConnector>;
  private readonly callMs: number;

  constructor({ privateHosts, resolve, callMs = CALL_MS }: HttpCallerOptions) {
    this.connect = guardedConnector({
      privateHosts,
      timeoutMs: Math.min(CONNECT_MS, callMs),
      ...(resolve === undefined ? {} : { resolve }),
    });
    this.callMs = callMs;
  }

  /** Rejects only with the reason of `signal`. */
  async call(call: HttpCall): Promise<CallResult> {
    const request = prepared(call);
    if ('output' in request) return request;
    return this.inTurn(call, () => this.sent(call, request));
  }

  private async inTurn({ agentId, signal }: HttpCall, work: () => Promise<CallResult>): Promise<CallResult> {
    const ofAgent = this.ofAgents.get(agentId) ?? { calls: new Semaphore(AT_ONCE_OF_AGENT), waiting: 0 };
    this.ofAgents.set(agentId, ofAgent);
    ofAgent.waiting += 1;
    try {
      return await ofAgent.calls.run(() => this.all.run(work, signal), signal);
    } finally {
      ofAgent.waiting -= 1;
      if (ofAgent.waiting === 0) this.ofAgents.delete(agentId);
    }
  }

  private async sent(call: HttpCall, request: ToolRequest): Promise<CallResult> {
    const { operation, baseUrl, secret, signal } = call;
    const timeout = AbortSignal.timeout(this.callMs);
    const client = new Client(new URL(baseUrl).origin, {
      connect: this.connect,
      pipelining: 0,
      // The signal ends the call: a second clock beside it would sometimes be first, and say something else.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    try {
      const { statusCode, headers, body } = await client.request({
        path: request.path,
        method: operation.method,
        headers: {
          accept: 'application/json, text/*;q=0.9',
          'accept-encoding': 'gzip, br',
          'user-agent': 'agent-platform',
          ...request.headers,
        },
        ...(request.body === undefined ? {} : { body: request.body }),
        signal: AbortSignal.any([signal, timeout]),
      });
      if (statusCode >= 300 && statusCode < 400)
        return failed('redirect', `The API answered with a redirect (${statusCode}), which is not followed.`);
      return shown(statusCode, await answerText(body as Readable, headers), secret);
    } catch (error) {
      signal.throwIfAborted();
      return timeout.aborted
        ? failed('timeout', `The API did not answer within ${this.callMs / 1000} s.`)
        : failureOf(error);
    } finally {
      // A connection of its own: nothing that an API sends too much is taken for the answer to somebody else.
      client.destroy().catch(() => undefined);
    }
  }
}

/** The request of a call, or why there is none. */
const prepared = ({ operation, baseUrl, secret, input }: HttpCall): ToolRequest | CallResult => {
  if (typeof input === 'string') return failed('invalid_input', 'The arguments are not JSON.');
  if (lengthOf(input ?? {}) > LONGEST_INPUT)
    return failed('invalid_input', `The arguments must have at most ${LONGEST_INPUT} characters and no deep nesting.`);
  const wrong = inputFault(input ?? {}, operation.inputSchema);
  if (wrong !== undefined) return failed('invalid_input', wrong);
  if (operation.secret !== undefined && secret === undefined)
    return failed('no_secret', 'This tool has no secret, and the API needs one. An editor of the Agent must set it.');
  const credentials =
    operation.secret === undefined || secret === undefined
      ? { headers: {}, query: [] }
      : credentialsOf(operation.secret, secret);
  try {
    const basePath = new URL(baseUrl).pathname.replace(/\/+$/, '');
    return requestOf(operation, basePath, (input ?? {}) as Readonly<Record<string, unknown>>, credentials);
  } catch (error) {
    if (error instanceof UnsendableInput) return failed('invalid_input', error.message);
    throw error;
  }
};

/** Of what is nested so deeply that it cannot be written: infinite. */
const lengthOf = (input: unknown): number => {
  try {
    return JSON.stringify(input).length;
  } catch (error) {
    if (error instanceof RangeError) return Infinity;
    throw error;
  }
};

const failed = (reason: FailureReason, error: string): CallResult => ({
  output: JSON.stringify({ error }),
  isError: true,
  reason,
});

const shown = (status: number, answer: AnswerText, secret: string | undefined): CallResult => {
  const clean = withoutSecret(answer.text, secret);
  const isCut = answer.isCut || clean.length > MOST_BYTES;
  const text = clean.slice(0, MOST_BYTES).toWellFormed();
  // A text that is JSON stays as it was written: one that is deep can be read, but not always written again.
  const body = answer.isJson && !isCut && isJson(text) ? text : JSON.stringify(text);
  const truncated = isCut ? `,"truncated":"Only the first ${MOST_BYTES / 1024} KiB are shown."` : '';
  return { output: `{"status":${status},"body":${body}${truncated}}`, ...(status >= 400 ? { isError: true } : {}) };
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
};

const failureOf = (error: unknown): CallResult => {
  if (error instanceof AddressNotAllowed)
    return failed('address_not_allowed', 'The address of this API is not public, and the operator has not allowed it.');
  if (error instanceof UnreadableAnswer) return failed('unreadable', error.message);
  if (error instanceof errors.ConnectTimeoutError) return failed('timeout', 'The API could not be reached in time.');
  return failed('unreachable', 'The API could not be reached, or its answer broke off.');
};
