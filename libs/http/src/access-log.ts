import type { Metrics } from '@app/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { patternOf } from './request';

/** The status of a request whose client left before the whole answer was sent. Nobody gets it; nginx logs the same. */
const CLIENT_LEFT = 499;

/**
 * Counts and logs every request of a route: writes and rejections at `info`, reads at `debug`. Logs the pattern of
 * the route, never the path, which may contain what people entered.
 */
export const accessLog =
  (logger: Logger, metrics: Metrics, route: string) =>
  (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    note(logger, metrics, route, request, reply.statusCode);
    done();
  };

/** Counts and logs a request whose client left: Fastify calls no `onResponse` for it. Whatever it asked for may have happened. */
export const logLeft = (logger: Logger, metrics: Metrics, request: FastifyRequest): void =>
  note(logger, metrics, patternOf(request), request, CLIENT_LEFT);

const note = (logger: Logger, metrics: Metrics, route: string, request: FastifyRequest, status: number): void => {
  const { method } = request;
  const milliseconds = performance.now() - request.startedAt;
  metrics.request(method, route, status, milliseconds / 1000);
  const isRead = method === 'GET' || method === 'HEAD';
  const level = isRead && (status < 400 || status === CLIENT_LEFT) ? 'debug' : 'info';
  if (!logger.isLevelEnabled(level)) return;
  logger[level](
    {
      requestId: request.id,
      method,
      route,
      status,
      milliseconds: Math.round(milliseconds * 10) / 10,
      actor: request.caller?.actor,
    },
    'request',
  );
};
