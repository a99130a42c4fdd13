import { randomUUID } from 'node:crypto';
import type { Caller } from '@app/access';
import type { CommandProgress, ReadScope } from '@app/kernel';
import type { FastifyRequest, RouteOptions } from 'fastify';
import type { Acceptance } from './idempotency';
import type { RouteDeclaration } from './route';

declare module 'fastify' {
  interface FastifyContextConfig {
    route?: RouteDeclaration;
  }
  interface FastifyRequest {
    /** Set by the guard; null on public routes and before. */
    caller: Caller | null;
    /** Set where the request carries an `Idempotency-Key`. */
    acceptance: Acceptance | null;
    /** Of the bytes of the body, where an `Idempotency-Key` came with it. */
    bodyDigest: string | null;
    /** What became of the command that the request is; null where it is none. */
    progress: CommandProgress | null;
    /** See `correlationIdOf`. */
    correlationId: string;
    startedAt: number;
    /** One answer of the log serves the whole request; made by the guard. */
    readScope: ReadScope | null;
    /** Set by handlers that stream what takes more than the route's permission: throws when the caller, as they are now, may not read on. */
    mayReadOn: ((caller: Caller) => unknown) | null;
  }
}

/** Correlates everything that follows from a request; also names its trace. */
export const correlationIdOf = (request: FastifyRequest): string => {
  if (request.correlationId === '') request.correlationId = randomUUID();
  return request.correlationId;
};

/** What the routed handler declares; empty for a request that no route takes. */
export const declarationOf = (request: FastifyRequest): RouteDeclaration => request.routeOptions.config?.route ?? {};

/** Whether a route is for reading: bodies of its requests are not parsed, and repeats change nothing. */
export const isForReading = ({ method }: Pick<RouteOptions, 'method'>): boolean =>
  [method].flat().every((each) => each === 'GET' || each === 'HEAD');

/** What is asked for changes nothing. */
export const onlyReads = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD';

/** The route's pattern, such as `/api/v1/core/agents/:agentId`; never the path itself, which may hold what people entered. */
export const patternOf = (request: FastifyRequest): string => request.routeOptions.url ?? 'none';

const SAFE_REQUEST_ID = /^[\w.:-]{1,128}$/;

const process = randomUUID();
let requests = 0;

/** The caller's own request id if it is 1-128 safe characters, a new one otherwise. */
export const requestIdOf = (header: string | string[] | undefined): string =>
  typeof header === 'string' && SAFE_REQUEST_ID.test(header) ? header : `${process}-${(requests += 1)}`;
