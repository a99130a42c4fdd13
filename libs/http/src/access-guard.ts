import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Admission } from './admission';
import { declarationOf } from './request';

/**
 * Runs before anything else of a handler, its body unread. Checks who calls, whether they may call this handler, whether the announced body is
 * accepted, and whether they may see its target. Rejects what no handler declares. It goes by the route of the handler and not by the path, so
 * writing the path differently does not bypass it.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(private readonly admission: Admission) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.getArgByIndex<FastifyRequest>(0);
    return this.admission.admit(request, declarationOf(request));
  }
}
