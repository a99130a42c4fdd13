import type { Access, Caller } from '@app/access';
import type { FastifyRequest } from 'fastify';
import type { RouteDeclaration } from './route';

type Targets = Readonly<Record<string, string | undefined>>;

/**
 * Checks the target of a request before its body is read: a caller who may not see an Agent or a Space cannot make us
 * read an expensive body for it. Undefined if there is nothing to check. The handler checks the rights that it needs.
 */
export const assertTarget = (
  access: Access,
  caller: Caller,
  request: FastifyRequest,
  { body }: RouteDeclaration,
): Promise<unknown> | undefined => {
  const { agentId, spaceId } = request.params as Targets;
  if (body === undefined) return undefined;
  if (agentId !== undefined && body.ofLostAgents !== true) return access.agent(caller, agentId, 'use');
  return spaceId === undefined ? undefined : access.space(caller, spaceId, 'viewer');
};
