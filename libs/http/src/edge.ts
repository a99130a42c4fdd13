import { CONFIG, type Config, inReadScope, isDomainError, LOGGER, reject } from '@app/kernel';
import { isTracing, Metrics, startRootSpan, under } from '@app/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { accessLog, logUnfinished } from './access-log';
import { Admission } from './admission';
import { hideUnknownType } from './body-headers';
import { budgetWaits } from './budget-waits';
import { JsonTextAdapter } from './json-text';
import { OpenRequests } from './open-requests';
import { OpenStreams } from './open-streams';
import { declareDocs } from './openapi/serve-docs';
import { sendError } from './problem-filter';
import { correlationIdOf, patternOf, requestIdOf } from './request';
import { RouteTable } from './route-table';
import { UnreadAnswers } from './slow-readers';
import { takeMultipart } from './uploads';
import { rejectUnreadable } from './unreadable-requests';

/** Characters of a parameter in a path, decoded; a longer one is of no route. The rest of a path, such as that of a file, may be longer. */
const LONGEST_PARAMETER = 255;

/** Bytes a millisecond. */
const SLOW_LINE = 32;

/** The HTTP server. Uses no middleware, so no check depends on how a path is written. */
export const makeAdapter = (): JsonTextAdapter =>
  new JsonTextAdapter({
    skipMiddie: true,
    logger: false,
    trustProxy: false,
    genReqId: (request: { headers: Record<string, string | string[] | undefined> }) =>
      requestIdOf(request.headers['x-request-id']),
    requestIdHeader: false,
    // `/docs/` is what people type for `/docs`.
    routerOptions: { maxParamLength: LONGEST_PARAMETER, ignoreTrailingSlash: true },
    clientErrorHandler: rejectUnreadable,
    // Node would reject without a body; `begin` does it in the form of the API.
    http: { requireHostHeader: false },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => sendError(request, reply, error),
    return503OnClosing: false,
  });

/**
 * What every request has, also one of no route or of a route that is not Nest's, such as those of `SwaggerModule`: its id, the check of its host,
 * its span, its line in the log. These are hooks of Fastify, since no guard and no interceptor runs for such a request. These, pipes and the
 * exception filter do the rest.
 */
@Injectable()
export class Edge {
  constructor(
    private readonly host: HttpAdapterHost<JsonTextAdapter>,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly metrics: Metrics,
    private readonly admission: Admission,
    private readonly requests: OpenRequests,
    private readonly streams: OpenStreams,
    private readonly unread: UnreadAnswers,
    private readonly routes: RouteTable,
  ) {}

  /** Puts it on the server. Before there are routes: Fastify tells of those alone that are registered later. */
  install(): void {
    const { EVENTSTORE_URL, MAX_UPLOAD_BYTES } = this.config;
    const adapter = this.host.httpAdapter;
    const fastify = adapter.getInstance();
    adapter.watching = { streams: this.streams, unread: this.unread, failed: this.sourceFailed };
    this.requests.watch(fastify.server, (request, response) =>
      logUnfinished(this.logger, this.metrics, request, response),
    );
    // Bodies that come too slowly are rejected before; the largest upload may come over a slow line.
    fastify.server.requestTimeout = Math.max(15 * 60_000, Math.ceil(MAX_UPLOAD_BYTES / SLOW_LINE));
    decorateRequests(fastify);
    fastify.addHook('onRequest', this.begin);
    // An expectation that nobody knows may be passed over (RFC 9110, 10.1.1); Node would answer 417 without a body.
    fastify.server.on('checkExpectation', (request, response) => fastify.server.emit('request', request, response));
    traceRequests(fastify);
    if (EVENTSTORE_URL !== undefined) budgetWaits(fastify);
    declareDocs(fastify, this.admission);
    this.routes.collect(fastify);
    this.logAnswers(fastify);
    fastify.removeAllContentTypeParsers();
    // Bodies are left unread: `BodyGuard` reads them behind `AccessGuard`, files are read by their handlers.
    fastify.addContentTypeParser('*', (_request, _payload, done) => done(null));
    takeMultipart(fastify, MAX_UPLOAD_BYTES);
  }

  private logAnswers(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', (options) => {
      options.onResponse = [accessLog(this.logger, this.metrics, options.url)];
    });
    const unrouted = accessLog(this.logger, this.metrics, 'none');
    fastify.addHook('onResponse', (request, reply, done) => (request.is404 ? unrouted(request, reply, done) : done()));
  }

  /** What a body is read from failed, with its beginning sent: Fastify only breaks the answer off. */
  private readonly sourceFailed = (request: FastifyRequest, error: Error): void => {
    // What was deleted meanwhile, as a rejection says, is no fault.
    if (isDomainError(error)) return;
    const { id: requestId } = request;
    this.logger.error({ requestId, route: patternOf(request), error }, 'An answer broke off: its source failed.');
  };

  private readonly begin = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    request.startedAt = performance.now();
    reply
      .header('x-request-id', request.id)
      .header('x-content-type-options', 'nosniff')
      .header('cache-control', 'no-store');
    this.requests.admit(request, reply);
    hideUnknownType(request.raw.headers);
    const hosts = hostsOf(request.raw.rawHeaders);
    if (hosts > 1 || (hosts === 0 && request.raw.httpVersion === '1.1')) {
      reply.header('connection', 'close');
      reject('invalid_parameter', { path: 'Host', reason: hosts === 0 ? 'required' : 'repeated' });
    }
    inReadScope(done);
  };
}

/** What is known of a request alone, by its types in `request.ts`. */
const decorateRequests = (fastify: FastifyInstance): void => {
  fastify.decorateRequest('caller', null);
  fastify.decorateRequest('acceptance', null);
  fastify.decorateRequest('bodyDigest', null);
  fastify.decorateRequest('progress', null);
  fastify.decorateRequest('startedAt', 0);
  fastify.decorateRequest('isLogged', false);
  fastify.decorateRequest('mayGoOn', null);
  fastify.decorateRequest('isTransient', false);
  fastify.decorateRequest('correlationId', '');
};

/** How many `Host` headers came: Node keeps the first of several, where a proxy may have gone by another (RFC 9112, 3.2). */
const hostsOf = (rawHeaders: readonly string[]): number => {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts;
};

/** A span for every request, in the trace that its correlation id names. Nothing is added unless traces are sent. */
const traceRequests = (fastify: FastifyInstance): void => {
  if (!isTracing()) return;
  fastify.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    const span = startRootSpan(`${request.method} ${patternOf(request)}`, correlationIdOf(request), {
      'http.request.method': request.method,
      'http.route': patternOf(request),
      requestId: request.id,
    });
    reply.raw.once('close', () => {
      span.setAttribute('http.response.status_code', reply.statusCode);
      span.end();
    });
    under(span, done);
  });
};
