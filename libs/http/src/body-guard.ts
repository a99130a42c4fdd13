import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Admission } from './admission';
import { hasBody } from './body-headers';
import { digestOf } from './idempotency';
import { rejectBody } from './input';
import { parseJsonBody } from './json-body';
import { declarationOf, onlyReads } from './request';
import { JSON_LIMIT } from './route';
import { wholeBody } from './whole-body';

/**
 * Runs behind `AccessGuard`: reads the JSON body of a caller who may send one, and rejects a body that is too large, malformed or not accepted
 * by the handler. Handlers read files themselves, by `Uploads`. Rejects callers who lost their rights while they waited or sent.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  constructor(private readonly admission: Admission) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.getArgByIndex<FastifyRequest>(0);
    if (onlyReads(request)) return true;
    const isJson = !request.isMultipart() && declarationOf(request).body?.bytes === undefined;
    if (isJson && hasBody(request.headers)) return this.read(request);
    return this.admission.admitAgain(request)?.then(() => true) ?? true;
  }

  private async read(request: FastifyRequest): Promise<boolean> {
    const { body } = declarationOf(request);
    const bytes = await wholeBody(request.raw, body?.limit ?? JSON_LIMIT);
    if (request.headers['idempotency-key'] !== undefined) request.bodyDigest = digestOf(bytes);
    request.body = parseJsonBody(bytes);
    const admitted = this.admission.admitAgain(request);
    if (admitted !== undefined) await admitted;
    if (body === undefined) rejectBody(request.body);
    return true;
  }
}
