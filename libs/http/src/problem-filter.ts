import { isDomainError, LOGGER } from '@app/kernel';
import { type ArgumentsHost, Catch, type ExceptionFilter, Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { envelopeOf, isCompatible, sendEnvelope, unknownUrl, wrongMethod } from './envelope';
import { errorRegistry } from './error-registry';
import { type Problem, problemOf } from './problem';
import { patternOf } from './request';
import { RouteTable } from './route-table';
import { isMeantForGateway, unrouted } from './unrouted';

/**
 * Answers every error as a problem document or, on the compatible API, as an envelope. Logs errors that are our
 * fault.
 */
@Injectable()
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly routes: RouteTable,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const compatible = isCompatible(request);
    const problem = compatible ? envelopeOf(error) : problemOf(error);
    if (isOfLeaving(request, error))
      this.logger.info(
        { requestId: request.id, route: patternOf(request) },
        'Client left before its request was complete.',
      );
    else if (isOfBreakingOff(reply, error))
      this.logger.info({ requestId: request.id, route: patternOf(request) }, 'Client left before it was answered.');
    else if (problem.status >= 500 && !isDomainError(error, LATE) && !isNotReady(error))
      this.logger.error(
        { requestId: request.id, route: patternOf(request), code: problem.code, error },
        'Request failed.',
      );
    if (reply.sent || reply.raw.headersSent) {
      // Half an answer must not look like a whole one.
      reply.raw.destroy();
      return;
    }
    if (problem.status === 404 && (request.is404 || this.isWordForAnId(request)))
      this.sendUnrouted(request, reply, compatible);
    else sendError(request, reply, error);
  }

  /** The path is a route of other methods, such as `skills/import`, and its word was taken for an id. */
  private isWordForAnId(request: FastifyRequest): boolean {
    return patternOf(request).includes(':') && this.routes.has(pathOf(request.url));
  }

  private sendUnrouted(request: FastifyRequest, reply: FastifyReply, compatible: boolean): void {
    const path = pathOf(request.url);
    const { code, allowed, detail } = unrouted(request.method, path, this.routes);
    if (code === 'method_not_allowed') reply.header('allow', allowed.join(', '));
    if (compatible || (code === 'not_found' && isMeantForGateway(path)))
      sendEnvelope(reply, code === 'not_found' ? unknownUrl(detail) : wrongMethod(detail));
    else sendProblem(request, reply, { code, ...errorRegistry[code], detail });
  }
}

/** Sends an error in the form of the API that was asked. */
export const sendError = (request: FastifyRequest, reply: FastifyReply, error: unknown): void => {
  // Where no hook ran: a path that cannot be read.
  reply.header('x-request-id', request.id);
  if (isCompatible(request)) sendEnvelope(reply, envelopeOf(error));
  else sendProblem(request, reply, problemOf(error));
};

/** Sends a problem document (RFC 9457). */
export const sendProblem = (request: FastifyRequest, reply: FastifyReply, problem: Problem): void => {
  const { code, status, title, detail, errors, outcome, retryAfterSeconds, limit } = problem;
  const { conversationId, messageId, text } = problem;
  if (status === 401) reply.header('www-authenticate', 'ApiKey');
  if (status === 408 || status === 413) reply.header('connection', 'close');
  if (status === 503 || retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds ?? 1));
  const isWrite = request.method !== 'GET' && request.method !== 'HEAD';
  // Whatever the last step met: what the first ones wrote stands there, and what the first request did of which this one is a repeat.
  const mayBeDone = request.progress?.hasWritten === true || request.acceptance?.again === true;
  const became = mayBeDone ? 'unknown' : (outcome ?? 'none');
  const body = {
    type: `urn:problem:${code}`,
    title,
    status,
    code,
    detail,
    requestId: request.id,
    errors,
    ...limit,
    conversationId,
    messageId,
    text,
    ...(isWrite && status === 503 ? { outcome: became } : {}),
  };
  void reply.code(status).header('content-type', 'application/problem+json; charset=utf-8').send(JSON.stringify(body));
};

/** A view did not come in time to a position that the caller named: that is the caller's to know, and whoever runs the platform sees the lag of views. */
const LATE = 'view_unavailable';

/** Asked while the process starts or stops: as it should be, and often, since balancers go on asking. */
const isNotReady = (error: unknown): boolean =>
  isDomainError(error, 'unavailable') && (error.facts['reason'] === 'starting' || error.facts['reason'] === 'stopping');

/** A client that breaks its request off, by Ctrl-C in an upload: no fault of anybody's, and there is nobody to answer. */
const isOfLeaving = ({ raw }: FastifyRequest, error: unknown): boolean =>
  !raw.complete &&
  raw.destroyed &&
  (error === raw.errored || (error as { code?: unknown }).code === 'FST_MP_PREMATURE_CLOSE');

/** What was done for a client was broken off since it left. */
const isOfBreakingOff = ({ raw }: FastifyReply, error: unknown): boolean =>
  raw.destroyed && error instanceof Error && error.name === 'AbortError';

const pathOf = (url: string): string => url.split('?', 1)[0] as string;
