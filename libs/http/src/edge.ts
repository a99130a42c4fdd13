import { inReadScope, reject } from '@app/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { isTracing, startRootSpan, under } from '@app/telemetry';
import { accessLog } from './access-log';
import { hideUnknownType } from './body-headers';
import { budgetWaits } from './budget-waits';
import type { EdgeServices } from './edge-services';
import { JsonTextAdapter } from './json-text';
import { sendError } from './problem-filter';
import { correlationIdOf, patternOf, requestIdOf } from './request';
import { takeMultipart } from './uploads';
import { rejectUnreadable } from './unreadable-requests';

/** Characters of a parameter in a path, decoded; a longer one is of no route. */
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
    // The longest parameter is the path of a file of a Skill. `/docs/` is what people type for `/docs`.
    routerOptions: { maxParamLength: LONGEST_PARAMETER, ignoreTrailingSlash: true },
    clientErrorHandler: rejectUnreadable,
    // Node would reject without a body; `begin` does it in the form of the API.
    http: { requireHostHeader: false },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => sendError(request, reply, error),
    return503OnClosing: false,
  });

/**
 * Puts on an instance, before its routes are registered, what every request has, also one of no route or of a route that is not Nest's: its id,
 * the check of its host, its span, its line in the log. Guards, interceptors, pipes and the exception filter do the rest.
 */
export const installEdge = (fastify: FastifyInstance, edge: EdgeServices, logger: Logger): void => {
  const { EVENTSTORE_URL, MAX_UPLOAD_BYTES } = edge.config;
  // Bodies that come too slowly are rejected before; the largest upload may come over a slow line.
  fastify.server.requestTimeout = Math.max(15 * 60_000, Math.ceil(MAX_UPLOAD_BYTES / SLOW_LINE));
  fastify.decorate('edge', edge);
  fastify.decorateRequest('caller', null);
  fastify.decorateRequest('acceptance', null);
  fastify.decorateRequest('bodyDigest', null);
  fastify.decorateRequest('progress', null);
  fastify.decorateRequest('startedAt', 0);
  fastify.decorateRequest('mayGoOn', null);
  fastify.decorateRequest('isTransient', false);
  fastify.decorateRequest('correlationId', '');
  fastify.addHook('onRequest', begin);
  // An expectation that nobody knows may be passed over (RFC 9110, 10.1.1); Node would answer 417 without a body.
  fastify.server.on('checkExpectation', (request, response) => fastify.server.emit('request', request, response));
  traceRequests(fastify);
  if (EVENTSTORE_URL !== undefined) budgetWaits(fastify);
  fastify.addHook('onRoute', (options) => {
    options.onResponse = [accessLog(logger, edge.metrics, options.url)];
  });
  const unrouted = accessLog(logger, edge.metrics, 'none');
  fastify.addHook('onResponse', (request, reply, done) => (request.is404 ? unrouted(request, reply, done) : done()));
  fastify.removeAllContentTypeParsers();
  // Bodies are left unread: `BodyGuard` reads them behind `AccessGuard`, files are read by their handlers.
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null));
  takeMultipart(fastify, MAX_UPLOAD_BYTES);
};

const begin = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
  request.startedAt = performance.now();
  reply
    .header('x-request-id', request.id)
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store');
  request.server.edge.requests.admit(request, reply);
  hideUnknownType(request.raw.headers);
  const hosts = hostsOf(request.raw.rawHeaders);
  if (hosts > 1 || (hosts === 0 && request.raw.httpVersion === '1.1')) {
    reply.header('connection', 'close');
    reject('invalid_parameter', { path: 'Host', reason: hosts === 0 ? 'required' : 'repeated' });
  }
  inReadScope(done);
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
