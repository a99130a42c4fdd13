import { isTracing, startRootSpan, under } from '@app/telemetry';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { correlationIdOf, patternOf } from './request';

/** A span for every request, in the trace that its correlation id names. Nothing is added unless traces are sent. */
export const traceRequests = (fastify: FastifyInstance): void => {
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
