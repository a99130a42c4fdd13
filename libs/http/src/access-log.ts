import type { ServerResponse } from 'node:http';
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
    note(logger, metrics, request, { route, status: reply.statusCode });
    done();
  };

/**
 * The same for an answer that ended before it was whole, for which Fastify calls no `onResponse`: the client left, or else this process broke
 * it off, at a stop, for a reader that reads nothing, or since its source failed. Whatever was asked for may have happened.
 */
export const logUnfinished = (
  logger: Logger,
  metrics: Metrics,
  request: FastifyRequest,
  response: ServerResponse,
): void => {
  // An injected request is closed before it is finished.
  if (request.isLogged) return;
  const route = patternOf(request);
  if (hasLeft(request)) note(logger, metrics, request, { route, status: CLIENT_LEFT });
  else note(logger, metrics, request, { route, status: response.statusCode, isBrokenOff: true });
};

const hasLeft = ({ raw: { socket } }: FastifyRequest): boolean => {
  const { code } = (socket.errored ?? {}) as NodeJS.ErrnoException;
  return socket.readableEnded || code === 'ECONNRESET' || code === 'EPIPE';
};

interface Noted {
  readonly route: string;
  readonly status: number;
  readonly isBrokenOff?: true;
}

const note = (logger: Logger, metrics: Metrics, request: FastifyRequest, noted: Noted): void => {
  const { method } = request;
  const { route, status, isBrokenOff } = noted;
  request.isLogged = true;
  const milliseconds = performance.now() - request.startedAt;
  metrics.request(method, route, status, milliseconds / 1000);
  const isRead = method === 'GET' || method === 'HEAD';
  const level = isRead && isBrokenOff !== true && (status < 400 || status === CLIENT_LEFT) ? 'debug' : 'info';
  if (!logger.isLevelEnabled(level)) return;
  logger[level](
    {
      requestId: request.id,
      method,
      route,
      status,
      ...(isBrokenOff === undefined ? {} : { brokenOff: true }),
      milliseconds: Math.round(milliseconds * 10) / 10,
      actor: request.caller?.actor,
    },
    'request',
  );
};
