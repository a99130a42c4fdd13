import type { Caller } from '@app/access';
import { equalSecrets, refuse } from '@app/kernel';
import type { FastifyRequest } from 'fastify';
import { checkBodyHeaders } from './body-headers';
import { apiKeyOf, bearerOf } from './credential';
import type { EdgeServices } from './edge-services';
import { InvalidInput, pathText } from './invalid-input';
import type { RateLimiter } from './rate-limiter';
import { declarationOf } from './request';
import type { Requirement, RouteDeclaration } from './route';

/**
 * Runs at the start of every routed request, before the body is read: who asks, whether they may call this handler at all,
 * and whether what they announce to send can be taken. What no handler declares is refused. Being a hook of the routed
 * handler and not of a path, it cannot be passed by writing the path in another way.
 */
export const guard =
  (edge: EdgeServices, limiter: RateLimiter | undefined) =>
  async (request: FastifyRequest): Promise<void> => {
    if (request.is404) return;
    const route = declarationOf(request);
    await admit(edge, limiter, request, route);
    checkQuery(request.query as Record<string, unknown>, route);
    if (request.method !== 'GET' && request.method !== 'HEAD') checkBodyHeaders(request.headers, route.body);
  };

const admit = async (edge: EdgeServices, limiter: RateLimiter | undefined, request: FastifyRequest, { requires }: RouteDeclaration): Promise<void> => {
  if (requires === undefined) return refuse('forbidden');
  if (requires === 'public' || (requires === 'docs' && edge.config.PUBLIC_DOCS)) return;
  if (requires === 'monitoring' && holdsMetricsToken(request, edge.config.METRICS_TOKEN)) return;
  const caller = await callerOf(edge, request);
  limiter?.take(caller.actor);
  demand(caller, requires);
  request.caller = caller;
};

/** Throws unless the caller of a request that was admitted would be admitted now. */
export const admittedStill = async (edge: EdgeServices, request: FastifyRequest): Promise<void> => {
  const { requires } = declarationOf(request);
  if (request.caller !== null && requires !== undefined) demand(await callerOf(edge, request), requires);
};

const callerOf = async (edge: EdgeServices, request: FastifyRequest): Promise<Caller> => (await edge.authenticator.authenticate(apiKeyOf(request.headers))) ?? refuse('unauthenticated');

const demand = (caller: Caller, requires: Requirement): void => {
  if (requires === 'authenticated' || requires === 'docs' || requires === 'public') return;
  if (!caller.permissions.has(requires === 'monitoring' ? 'operations' : requires)) refuse('forbidden');
};

const holdsMetricsToken = (request: FastifyRequest, token: string | undefined): boolean => {
  const given = bearerOf(request.headers);
  return token !== undefined && given !== undefined && equalSecrets(given, token);
};

/** A route without declared parameters takes none. Those with a schema are checked by the handler, after the target. */
const checkQuery = (given: Record<string, unknown>, route: RouteDeclaration): void => {
  if (route.query !== undefined) return;
  const names = Object.keys(given);
  if (names.length === 0) return;
  throw new InvalidInput('invalid_parameter', names.slice(0, 20).map((name) => ({ path: pathText([name]), code: 'unknown_parameter', message: 'This parameter is not known here.' })));
};
