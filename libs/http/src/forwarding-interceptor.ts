import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Observable, of } from 'rxjs';
import { OpenStreams } from './open-streams';
import { type Place, TransientRequests } from './transient-requests';

/**
 * Forwards requests to the process that has what they are for, before anything of them is kept: interceptors of a controller run before those
 * of its handlers, such as that of `Idempotency-Key`. For controllers of what may be in the memory of one process alone.
 */
@Injectable()
export class ForwardingInterceptor implements NestInterceptor {
  constructor(
    private readonly transients: TransientRequests,
    private readonly streams: OpenStreams,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> | Promise<Observable<unknown>> {
    const request = context.getArgByIndex<FastifyRequest>(0);
    const place = this.transients.placeOf(request);
    if (place === undefined) return next.handle();
    request.isTransient = true;
    return this.handledAt(place, request, context.getArgByIndex<FastifyReply>(1), next);
  }

  private async handledAt(
    place: Promise<Place>,
    request: FastifyRequest,
    reply: FastifyReply,
    next: CallHandler,
  ): Promise<Observable<unknown>> {
    const found = await place;
    // What was forwarded once is answered here, if only with 404.
    if (found === 'here' || this.transients.isForwarded(request)) return next.handle();
    const answer = await this.transients.forward(request, reply, found);
    // The process that answers says the end; here the answer is broken off if it has not by the next check.
    if (answer !== undefined) this.streams.add(answer.getStream(), request, () => undefined);
    return of(answer);
  }
}
