import type { Metrics } from '@app/telemetry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { patternOf } from './request';

/** Counts every request, and logs a line for it: writes and refusals at `info`, reads at `debug`. */
export const accessLog =
  (logger: Logger, metrics: Metrics) =>
  (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const { method } = request;
    const route = patternOf(request);
    const milliseconds = performance.now() - request.startedAt;
    metrics.request(method, route, reply.statusCode, milliseconds / 1000);
    const level = (method === 'GET' || method === 'HEAD') && reply.statusCode < 400 ? 'debug' : 'info';
    if (logger.isLevelEnabled(level)) {
      logger[level]({ requestId: request.id, method, route, status: reply.statusCode, milliseconds: Math.round(milliseconds * 10) / 10, actor: request.caller?.actor }, 'request');
    }
    done();
  };
