import { randomUUID } from 'node:crypto';
import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { accessLog } from './access-log';
import type { EdgeServices } from './edge-services';
import { guard } from './guard';
import { installIdempotency } from './idempotent-writes';
import { parseJsonBody } from './json-body';
import { JsonTextAdapter } from './json-text';
import { problemOf } from './problem';
import { sendProblem } from './problem-filter';
import { RateLimiter } from './rate-limiter';
import { waitForReadAfter } from './read-after';
import { requestIdOf } from './request';
import { JSON_LIMIT } from './route';
import { traceRequests } from './trace-requests';
import { refuseUnreadable } from './unreadable-requests';

/** The HTTP server: no middleware, so that nothing depends on how a path is written. */
export const makeAdapter = (): JsonTextAdapter =>
  new JsonTextAdapter({
    skipMiddie: true,
    logger: false,
    trustProxy: false,
    genReqId: (request: { headers: Record<string, string | string[] | undefined> }) => requestIdOf(request.headers['x-request-id'], randomUUID),
    requestIdHeader: false,
    bodyLimit: JSON_LIMIT,
    // Slow senders hold a connection, not more; uploads may take their time.
    requestTimeout: 15 * 60_000,
    routerOptions: { maxParamLength: 200 },
    clientErrorHandler: refuseUnreadable,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => sendProblem(request, reply, problemOf(error)),
    return503OnClosing: false,
  });

/** Puts the edge on an instance before its routes are registered: request ids, guard, bodies, idempotency, access log. */
export const installEdge = (fastify: FastifyInstance, edge: EdgeServices, logger: Logger): void => {
  const { RATE_LIMIT_PER_MINUTE, MAX_UPLOAD_BYTES } = edge.config;
  fastify.decorate('edge', edge);
  fastify.decorateRequest('caller', null);
  fastify.decorateRequest('acceptance', null);
  fastify.decorateRequest('startedAt', 0);
  fastify.decorateRequest('correlationId', '');
  fastify.addHook('onRoute', (options) => {
    const body = options.config?.route?.body;
    if (body !== undefined) options.bodyLimit = body.limit;
  });
  fastify.addHook('onRequest', begin);
  fastify.addHook('onRequest', edge.requests.admit);
  traceRequests(fastify);
  fastify.addHook('onRequest', guard(edge, RATE_LIMIT_PER_MINUTE === undefined ? undefined : new RateLimiter(edge.clock, RATE_LIMIT_PER_MINUTE)));
  fastify.addHook('onRequest', waitForReadAfter);
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseJsonBody(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
  void fastify.register(multipart, { limits: { fileSize: MAX_UPLOAD_BYTES, files: 100, fields: 100, fieldSize: JSON_LIMIT, fieldNameSize: 100, headerPairs: 20 } });
  installIdempotency(fastify);
  fastify.addHook('onResponse', accessLog(logger, edge.metrics));
};

const begin = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
  request.startedAt = performance.now();
  reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff').header('cache-control', 'no-store');
  done();
};
