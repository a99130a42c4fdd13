import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { admitAgain } from './access-guard';
import { hasBody } from './body-headers';
import type { EdgeServices } from './edge-services';
import { digestOf } from './idempotency';
import { rejectBody } from './input';
import { parseJsonBody } from './json-body';
import { onlyReads } from './request';
import { declarationOfHandler, JSON_LIMIT, type RouteDeclaration } from './route';
import { wholeBody } from './whole-body';

/**
 * Runs behind `AccessGuard`: reads the JSON body of a caller who may send one, and rejects a body that is too large, malformed or not accepted
 * by the handler. Handlers read files themselves, as `parts`. Rejects callers who lost their rights while they waited or sent.
 */
export class BodyGuard implements CanActivate {
  constructor(private readonly edge: EdgeServices) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.getArgByIndex<FastifyRequest>(0);
    if (onlyReads(request)) return true;
    if (hasBody(request.headers) && !request.isMultipart())
      return this.read(request, declarationOfHandler(context.getHandler()));
    return admitAgain(this.edge, request)?.then(() => true) ?? true;
  }

  private async read(request: FastifyRequest, { body }: RouteDeclaration): Promise<boolean> {
    const bytes = await wholeBody(request.raw, body?.limit ?? JSON_LIMIT);
    if (request.headers['idempotency-key'] !== undefined) request.bodyDigest = digestOf(bytes);
    request.body = parseJsonBody(bytes);
    const admitted = admitAgain(this.edge, request);
    if (admitted !== undefined) await admitted;
    if (body === undefined) rejectBody(request.body);
    return true;
  }
}
