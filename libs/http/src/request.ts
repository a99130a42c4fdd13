import { randomUUID } from 'node:crypto';
import type { Caller } from '@app/access';
import type { CommandProgress } from '@app/kernel';
import type { FastifyRequest } from 'fastify';
import type { Acceptance } from './idempotency';
import type { RouteDeclaration } from './route';

declare module 'fastify' {
  interface FastifyContextConfig {
    route?: RouteDeclaration;
  }
  interface FastifyRequest {
    /** Set by the guard. Null before that, and on public routes. */
    caller: Caller | null;
    /** Set if the request has an `Idempotency-Key`. */
    acceptance: Acceptance | null;
    /** Hash of the body, if the request has an `Idempotency-Key`. */
    bodyDigest: string | null;
    /** The outcome of the request's command; null if it has none. */
    progress: CommandProgress | null;
    /** See `correlationIdOf`. */
    correlationId: string;
    startedAt: number;
    /** Its line is in the access log. */
    isLogged: boolean;
    /** Set by handlers whose stream, or upload, needs more than the route's permission. Throws when the caller may not go on. */
    mayGoOn: ((caller: Caller) => unknown) | null;
  }
}

/** Correlates everything that follows from a request. Also the id of its trace. */
export const correlationIdOf = (request: FastifyRequest): string => {
  if (request.correlationId === '') request.correlationId = randomUUID();
  return request.correlationId;
};

/** What the handler declares; empty if no route matches. */
export const declarationOf = (request: FastifyRequest): RouteDeclaration => request.routeOptions.config?.route ?? {};

/** True for a request that changes nothing. */
export const onlyReads = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD';

/** The pattern of the route, such as `/api/v1/core/agents/:agentId`. Never the path, which may hold what people entered. */
export const patternOf = (request: FastifyRequest): string => request.routeOptions.url ?? 'none';

const SAFE_REQUEST_ID = /^[\w.:-]{1,128}$/;

const process = randomUUID();
let requests = 0;

/** The caller's request id if it is 1 to 128 safe characters; otherwise a new one. */
export const requestIdOf = (header: string | string[] | undefined): string =>
  typeof header === 'string' && SAFE_REQUEST_ID.test(header) ? header : `${process}-${(requests += 1)}`;
