import type { Access, Caller } from '@app/access';
import type { FastifyRequest } from 'fastify';
import type { RouteDeclaration } from './route';

type Targets = Readonly<Record<string, string | undefined>>;

/**
 * Asks for what the path of a request with a body names, before that is read: whoever may not know of an Agent or a Space sends
 * nothing to it that costs anything. Undefined where there is nothing to ask. The handler asks for the rights that it needs.
 */
export const assertTarget = (
  access: Access,
  caller: Caller,
  request: FastifyRequest,
  { body }: RouteDeclaration,
): Promise<unknown> | undefined => {
  const { agentId, spaceId } = request.params as Targets;
  if (body === undefined) return undefined;
  if (agentId !== undefined) return access.agent(caller, agentId, 'use');
  return spaceId === undefined ? undefined : access.space(caller, spaceId, 'viewer');
};
