import { type Caller, type Credential, keyCredential } from '@app/access';
import { equalSecrets, inReadScope, reject } from '@app/kernel';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { checkBodyHeaders } from './body-headers';
import { bearerOf, compatibleKeyOf, credentialOf } from './credential';
import type { EdgeServices } from './edge-services';
import { InvalidInput, pathText } from './invalid-input';
import { waitForReadAfter } from './view-waiter';
import { checkQueryText } from './query-text';
import { declarationOf, onlyReads } from './request';
import { declarationOfHandler, type Requirement, type RouteDeclaration } from './route';
import { assertSameOrigin } from './same-origin';
import { assertTarget } from './target';

/**
 * Runs before anything else of a handler, its body unread. Checks who calls, whether they may call this handler, whether the announced body is
 * accepted, and whether they may see its target. Rejects what no handler declares. It goes by the handler and not by the path, so writing the
 * path differently does not bypass it.
 */
export class AccessGuard implements CanActivate {
  constructor(private readonly edge: EdgeServices) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    return admit(this.edge, context.getArgByIndex<FastifyRequest>(0), declarationOfHandler(context.getHandler()));
  }
}

/** Admits a request of a route, or rejects it. Callers that are known already cost no turn of the event loop. */
export const admit = (
  edge: EdgeServices,
  request: FastifyRequest,
  route: RouteDeclaration,
): boolean | Promise<boolean> => {
  const { requires = reject('forbidden') } = route;
  if (isOpen(edge, request, requires)) {
    if (!onlyReads(request)) assertSameOrigin(request.headers, edge.config.BASE_URL);
    checkForm(request, route);
    return true;
  }
  const caller = edge.authenticator.recognise(credentialIn(edge, request, requires));
  if (
    caller === undefined ||
    request.headers['x-read-after'] !== undefined ||
    edge.requests.unread.isOver(caller.actor)
  )
    return admitInTime(edge, request, route);
  if (!edge.transients.isForwarded(request)) edge.limiter.takeHere(caller.actor);
  admitAs(caller, request, route);
  const target = assertTarget(edge.access, caller, request, route);
  return target === undefined ? true : target.then(() => true);
};

/** Admits whoever is not known yet, still has answers to read, or waits for a view. */
const admitInTime = async (edge: EdgeServices, request: FastifyRequest, route: RouteDeclaration): Promise<boolean> => {
  const caller = await callerOf(edge, request, route.requires);
  if (!edge.transients.isForwarded(request)) await edge.limiter.take(caller.actor);
  await edge.requests.unread.drained(caller.actor);
  admitAs(caller, request, route);
  await assertTarget(edge.access, caller, request, route);
  await waitForReadAfter(request);
  return true;
};

const admitAs = (caller: Caller, request: FastifyRequest, route: RouteDeclaration): void => {
  assert(caller, route.requires ?? reject('forbidden'));
  request.caller = caller;
  checkForm(request, route);
};

/** True where no key is asked for. */
const isOpen = ({ config }: EdgeServices, request: FastifyRequest, requires: Requirement): boolean =>
  requires === 'public' ||
  (requires === 'docs' && config.PUBLIC_DOCS) ||
  (requires === 'monitoring' && holdsMetricsToken(request, config.METRICS_TOKEN));

const checkForm = (request: FastifyRequest, route: RouteDeclaration): void => {
  // Clients of the compatible API may send parameters that mean something to others.
  if (route.requires !== 'compat') {
    checkQueryText(request.url);
    if (route.query === undefined) rejectParameters(request.query as Record<string, unknown>);
  }
  if (!onlyReads(request)) checkBodyHeaders(request.headers, route.body);
};

/**
 * Admits a caller anew before a write: their body, or their turn, may have come late, and rights may have gone meanwhile. The rest
 * of the request goes by what they are now. Undefined, and no turn of the event loop, where nothing changed.
 */
export const admitAgain = (edge: EdgeServices, request: FastifyRequest): Promise<void> | undefined => {
  const { requires } = declarationOf(request);
  if (request.caller === null || requires === undefined) return undefined;
  if (edge.authenticator.recognise(credentialIn(edge, request, requires)) === request.caller) return undefined;
  return callerOf(edge, request, requires).then((caller) => {
    assert(caller, requires);
    request.caller = caller;
  });
};

/**
 * Throws if the caller of an admitted request would be rejected now, or may no longer read what is streamed to them, or send what they upload.
 */
export const admittedStill = (edge: EdgeServices, request: FastifyRequest): Promise<void> =>
  inReadScope(async () => {
    const route = declarationOf(request);
    const { requires } = route;
    if (request.caller === null || requires === undefined) return;
    const caller = await callerOf(edge, request, requires);
    assert(caller, requires);
    await assertTarget(edge.access, caller, request, route);
    await request.mayGoOn?.(caller);
  });

const callerOf = (edge: EdgeServices, request: FastifyRequest, requires: Requirement | undefined): Promise<Caller> =>
  authenticated(edge, credentialIn(edge, request, requires), onlyReads(request));

const authenticated = async (edge: EdgeServices, credential: Credential, reads: boolean): Promise<Caller> =>
  (await edge.authenticator.authenticate(credential, reads)) ??
  reject('unauthenticated', credential.kind === 'session' ? { reason: 'no_session' } : {});

/** A cookie counts only in what a page of our own sends. */
const credentialIn = (
  { config }: EdgeServices,
  { raw }: FastifyRequest,
  requires: Requirement | undefined,
): Credential => {
  if (requires === 'compat') return keyCredential(compatibleKeyOf(raw));
  const credential = credentialOf(raw);
  if (credential.kind === 'session') assertSameOrigin(raw.headers, config.BASE_URL);
  return credential;
};

const assert = (caller: Caller, requires: Requirement): void => {
  if (requires === 'authenticated' || requires === 'docs' || requires === 'public') return;
  const permission = requires === 'monitoring' ? 'operations' : requires;
  if (!caller.permissions.has(permission)) reject('forbidden', { permission });
};

const holdsMetricsToken = (request: FastifyRequest, token: string | undefined): boolean => {
  const given = bearerOf(request.raw);
  return token !== undefined && given !== undefined && equalSecrets(given, token);
};

/** A route without declared parameters takes none. Those with a schema are checked by the handler, after the target. */
const rejectParameters = (given: Record<string, unknown>): void => {
  const names = Object.keys(given);
  if (names.length === 0) return;
  throw new InvalidInput(
    'invalid_parameter',
    names.slice(0, 20).map((name) => ({
      path: pathText([name]),
      code: 'unknown_parameter',
      message: 'Is not a parameter of this operation. Remove it, or see /docs for those that it takes.',
    })),
  );
};
