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
 * Runs behind `AccessGuard`: reads the JSON body of a caller who may send one, and rejects what is too large, malformed or not taken
 * by the handler. Files are left to the handler, which reads them as `parts`. Whoever lost their rights while they sent is rejected.
 */
export class BodyGuard implements CanActivate {
  constructor(private readonly edge: EdgeServices) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.getArgByIndex<FastifyRequest>(0);
    if (onlyReads(request) || !hasBody(request.headers) || request.isMultipart()) return true;
    return this.read(request, declarationOfHandler(context.getHandler()));
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
