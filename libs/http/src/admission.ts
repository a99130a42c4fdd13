import { Access, Authenticator, type Caller, type Credential, keyCredential } from '@app/access';
import { CONFIG, type Config, equalSecrets, inReadScope, reject } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { checkBodyHeaders } from './body-headers';
import { bearerOf, compatibleKeyOf, credentialOf } from './credential';
import { InvalidInput, pathText } from './invalid-input';
import { checkQueryText } from './query-text';
import { RateLimiter } from './rate-limiter';
import { declarationOf, onlyReads } from './request';
import type { Requirement, RouteDeclaration } from './route';
import { assertSameOrigin } from './same-origin';
import { UnreadAnswers } from './slow-readers';
import { assertTarget } from './target';
import { TransientRequests } from './transient-requests';
import { VIEW_WAITER, type ViewWaiter, waitForReadAfter } from './view-waiter';

/** Decides who is let in: before a body is read, behind it, and while a stream or an upload goes on. */
@Injectable()
export class Admission {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'BASE_URL' | 'METRICS_TOKEN' | 'PUBLIC_DOCS'>,
    private readonly authenticator: Authenticator,
    private readonly access: Access,
    private readonly limiter: RateLimiter,
    private readonly transients: TransientRequests,
    private readonly unread: UnreadAnswers,
    @Inject(VIEW_WAITER) private readonly views: ViewWaiter,
  ) {}

  /** Admits a request of a route, or rejects it. Callers that are known already cost no turn of the event loop. */
  admit(request: FastifyRequest, route: RouteDeclaration): boolean | Promise<boolean> {
    const { requires = reject('forbidden') } = route;
    if (this.isOpen(request, requires)) {
      if (!onlyReads(request)) assertSameOrigin(request.headers, this.config.BASE_URL);
      checkForm(request, route);
      return true;
    }
    const caller = this.authenticator.recognise(this.credentialIn(request, requires));
    if (caller === undefined || request.headers['x-read-after'] !== undefined || this.unread.isOver(caller.actor))
      return this.admitInTime(request, route);
    if (!this.transients.isForwarded(request)) this.limiter.takeHere(caller.actor);
    admitAs(caller, request, route);
    const target = assertTarget(this.access, caller, request, route);
    return target === undefined ? true : target.then(() => true);
  }

  /**
   * Admits a caller anew before a write: their body, or their turn, may have come late, and rights may have gone meanwhile. The rest
   * of the request goes by what they are now. Undefined, and no turn of the event loop, where nothing changed.
   */
  admitAgain(request: FastifyRequest): Promise<void> | undefined {
    const { requires } = declarationOf(request);
    if (request.caller === null || requires === undefined) return undefined;
    if (this.authenticator.recognise(this.credentialIn(request, requires)) === request.caller) return undefined;
    return this.callerOf(request, requires).then((caller) => {
      assertMay(caller, requires);
      request.caller = caller;
    });
  }

  /** Throws if the caller of an admitted request would be rejected now, or may no longer read what is streamed to them, or send what they upload. */
  admittedStill(request: FastifyRequest): Promise<void> {
    return inReadScope(async () => {
      const route = declarationOf(request);
      const { requires } = route;
      if (request.caller === null || requires === undefined) return;
      const caller = await this.callerOf(request, requires);
      assertMay(caller, requires);
      await assertTarget(this.access, caller, request, route);
      await request.mayGoOn?.(caller);
    });
  }

  /** Admits whoever is not known yet, still has answers to read, or waits for a view. */
  private async admitInTime(request: FastifyRequest, route: RouteDeclaration): Promise<boolean> {
    const caller = await this.callerOf(request, route.requires);
    if (!this.transients.isForwarded(request)) await this.limiter.take(caller.actor);
    await this.unread.drained(caller.actor);
    admitAs(caller, request, route);
    await assertTarget(this.access, caller, request, route);
    await waitForReadAfter(this.views, request);
    return true;
  }

  /** True where no key is asked for. */
  private isOpen(request: FastifyRequest, requires: Requirement): boolean {
    return (
      requires === 'public' ||
      (requires === 'docs' && this.config.PUBLIC_DOCS) ||
      (requires === 'monitoring' && holdsMetricsToken(request, this.config.METRICS_TOKEN))
    );
  }

  private async callerOf(request: FastifyRequest, requires: Requirement | undefined): Promise<Caller> {
    const credential = this.credentialIn(request, requires);
    return (
      (await this.authenticator.authenticate(credential, onlyReads(request))) ??
      reject('unauthenticated', credential.kind === 'session' ? { reason: 'no_session' } : {})
    );
  }

  /** A cookie counts only in what a page of our own sends. */
  private credentialIn({ raw }: FastifyRequest, requires: Requirement | undefined): Credential {
    if (requires === 'compat') return keyCredential(compatibleKeyOf(raw));
    const credential = credentialOf(raw);
    if (credential.kind === 'session') assertSameOrigin(raw.headers, this.config.BASE_URL);
    return credential;
  }
}

const admitAs = (caller: Caller, request: FastifyRequest, route: RouteDeclaration): void => {
  assertMay(caller, route.requires ?? reject('forbidden'));
  request.caller = caller;
  checkForm(request, route);
};

const checkForm = (request: FastifyRequest, route: RouteDeclaration): void => {
  // Clients of the compatible API may send parameters that mean something to others.
  if (route.requires !== 'compat') {
    checkQueryText(request.url);
    if (route.query === undefined) rejectParameters(request.query as Record<string, unknown>);
  }
  if (!onlyReads(request)) checkBodyHeaders(request.headers, route.body);
};

const assertMay = (caller: Caller, requires: Requirement): void => {
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
