import type { Metrics } from '@app/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

/**
 * Counts and logs every request of a route: writes and rejections at `info`, reads at `debug`. Logs the pattern of
 * the route, never the path, which may contain what people entered.
 */
export const accessLog =
  (logger: Logger, metrics: Metrics, route: string) =>
  (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const { method } = request;
    const milliseconds = performance.now() - request.startedAt;
    metrics.request(method, route, reply.statusCode, milliseconds / 1000);
    const level = (method === 'GET' || method === 'HEAD') && reply.statusCode < 400 ? 'debug' : 'info';
    if (logger.isLevelEnabled(level)) {
      logger[level](
        {
          requestId: request.id,
          method,
          route,
          status: reply.statusCode,
          milliseconds: Math.round(milliseconds * 10) / 10,
          actor: request.caller?.actor,
        },
        'request',
      );
    }
    done();
  };
