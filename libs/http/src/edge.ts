import { inReadScope, reject } from '@app/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { isTracing, startRootSpan, under } from '@app/telemetry';
import { accessLog } from './access-log';
import { budgetWaits } from './budget-waits';
import type { EdgeServices } from './edge-services';
import { admitAgain, guard } from './guard';
import { digestOf } from './idempotency';
import { installIdempotency } from './idempotent-writes';
import { rejectBody } from './input';
import { parseJsonBody } from './json-body';
import { JsonTextAdapter } from './json-text';
import { sendError } from './problem-filter';
import { correlationIdOf, isForReading, patternOf, requestIdOf } from './request';
import { JSON_LIMIT } from './route';
import { installForwarding } from './transient-requests';
import { takeMultipart } from './uploads';
import { rejectUnreadable } from './unreadable-requests';
import { wholeBody } from './whole-body';

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
    bodyLimit: JSON_LIMIT,
    // The longest parameter is the path of a file of a Skill. `/docs/` is what people type for `/docs`.
    routerOptions: { maxParamLength: LONGEST_PARAMETER, ignoreTrailingSlash: true },
    clientErrorHandler: rejectUnreadable,
    // Node would reject without a body; `begin` does it in the form of the API.
    http: { requireHostHeader: false },
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => sendError(request, reply, error),
    return503OnClosing: false,
  });

/** Puts the edge on an instance before its routes are registered: request ids, guard, bodies, idempotency, access log. */
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
  fastify.decorateRequest('readScope', null);
  fastify.decorateRequest('correlationId', '');
  fastify.addHook('onRequest', begin);
  // An expectation that nobody knows may be passed over (RFC 9110, 10.1.1); Node would answer 417 without a body.
  fastify.server.on('checkExpectation', (request, response) => fastify.server.emit('request', request, response));
  traceRequests(fastify);
  if (EVENTSTORE_URL !== undefined) budgetWaits(fastify);
  fastify.addHook('onRoute', (options) => {
    const route = options.config?.route ?? {};
    if (route.body !== undefined) options.bodyLimit = route.body.limit;
    options.onRequest = [guard(edge, route)];
    options.preValidation = isForReading(options)
      ? [goOnInScope]
      : route.body === undefined
        ? [goOnAdmitted(edge), takesNoBody]
        : [goOnAdmitted(edge)];
    options.onResponse = [accessLog(logger, edge.metrics, options.url)];
  });
  const unrouted = accessLog(logger, edge.metrics, 'none');
  fastify.addHook('onResponse', (request, reply, done) => (request.is404 ? unrouted(request, reply, done) : done()));
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', (request, _payload, done) =>
    wholeBody(request, (error, body) => {
      if (body === undefined) return done(error);
      try {
        if (request.headers['idempotency-key'] !== undefined) request.bodyDigest = digestOf(body);
        done(null, parseJsonBody(body));
      } catch (fault) {
        done(fault as Error);
      }
    }),
  );
  takeMultipart(fastify, MAX_UPLOAD_BYTES);
  installIdempotency(fastify);
  installForwarding(fastify);
};

/** A body is read from the connection, whose events know nothing of the request. */
const goOnInScope = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void =>
  inReadScope(done, request.readScope ?? undefined);

/** As `goOnInScope`, for whoever may still do what they send. */
const goOnAdmitted =
  (edge: EdgeServices) =>
  (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void =>
    inReadScope(() => {
      try {
        const admitted = admitAgain(edge, request);
        if (admitted !== undefined) return void admitted.then(() => done(), done);
      } catch (error) {
        return done(error as Error);
      }
      done();
    }, request.readScope ?? undefined);

const takesNoBody = (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void => {
  try {
    rejectBody(request.body);
  } catch (error) {
    return done(error as Error);
  }
  done();
};

const begin = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
  request.startedAt = performance.now();
  reply
    .header('x-request-id', request.id)
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store');
  request.server.edge.requests.admit(request, reply);
  const hosts = hostsOf(request.raw.rawHeaders);
  if (hosts > 1 || (hosts === 0 && request.raw.httpVersion === '1.1')) {
    reply.header('connection', 'close');
    reject('invalid_parameter', { path: 'Host', reason: hosts === 0 ? 'required' : 'repeated' });
  }
  done();
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
