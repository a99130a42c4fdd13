import { Access, type Caller } from '@app/access';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  StreamableFile,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { lastValueFrom, type Observable, of } from 'rxjs';
import { type Acceptance, Idempotency, NO_BODY } from './idempotency';
import { InvalidInput } from './invalid-input';
import { JsonText } from './json-text';
import type { Replay } from './kept-answer';
import { problemOf } from './problem';
import { declarationOf } from './request';
import { assertStillShown } from './still-shown';

const KEY = /^[\x20-\x7e]{1,255}$/;
/** Headers that a repeat gets again, beside status and body. */
const KEPT_HEADERS = ['etag', 'location', 'x-log-position'] as const;
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

/**
 * Implements `Idempotency-Key`: runs a request once, and answers its repeats as the first one. Passes requests without the header on unchanged.
 * `@Documented` adds it to every write of the core API.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly idempotency: Idempotency,
    private readonly access: Access,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> | Promise<Observable<unknown>> {
    const request = context.getArgByIndex<FastifyRequest>(0);
    const key = request.headers['idempotency-key'];
    const { caller } = request;
    if (key === undefined || caller === null) return next.handle();
    return this.once(request, context.getArgByIndex<FastifyReply>(1), { caller, key: checkedKey(request, key) }, next);
  }

  private async once(
    request: FastifyRequest,
    reply: FastifyReply,
    { caller, key }: { readonly caller: Caller; readonly key: string },
    next: CallHandler,
  ): Promise<Observable<unknown>> {
    const accepted = await this.accepted(request, caller, key);
    if (!isReplay(accepted)) return of(await this.run(request, reply, accepted, next));
    await assertStillShown(this.access, caller, request.params, accepted);
    reply.code(accepted.status).headers(accepted.headers);
    return of(accepted.body === null ? undefined : new JsonText(accepted.body));
  }

  private async accepted(request: FastifyRequest, { actor }: Caller, key: string): Promise<Acceptance | Replay> {
    if (request.isTransient) return this.idempotency.unkept(actor, key);
    return this.idempotency.accept(actor, key, `${request.method} ${request.url}`, {
      digest: request.bodyDigest ?? NO_BODY,
      value: request.body,
    });
  }

  /** Runs the handler to its end, also where its client leaves meanwhile: the answer is kept for a repeat. */
  private async run(
    request: FastifyRequest,
    reply: FastifyReply,
    acceptance: Acceptance,
    next: CallHandler,
  ): Promise<unknown> {
    request.acceptance = acceptance;
    const settle = (status: number, headers: Readonly<Record<string, string>>): Promise<void> =>
      this.idempotency.settle(acceptance, { status, headers, hasWritten: request.progress?.hasWritten === true });
    let answer: unknown;
    try {
      answer = await lastValueFrom(next.handle());
    } catch (error) {
      const { status } = problemOf(error);
      await settle(isDeletedBefore(request, acceptance, status) ? 204 : status, {});
      if (!isDeletedBefore(request, acceptance, status)) throw error;
      reply.code(204);
      return undefined;
    }
    if (answer instanceof StreamableFile) this.releaseOnceOver(reply, acceptance);
    else await settle(reply.statusCode, keptHeaders(reply, acceptance));
    return answer;
  }

  /** A streamed answer cannot be kept. Once it is over, also where its client left in the middle, a repeat runs again. */
  private releaseOnceOver(reply: FastifyReply, acceptance: Acceptance): void {
    const release = (): void => this.idempotency.release(acceptance);
    if (reply.raw.closed) release();
    else reply.raw.once('close', release);
  }
}

const checkedKey = (request: FastifyRequest, key: string | string[]): string => {
  if (typeof key !== 'string' || !KEY.test(key))
    throw new InvalidInput('invalid_parameter', [
      { path: 'Idempotency-Key', code: 'invalid_format', message: 'Must be 1 to 255 printable ASCII characters.' },
    ]);
  // The body is an unread stream: a different body under the same key would look like a repeat.
  if (request.isMultipart())
    throw new InvalidInput('invalid_parameter', [
      {
        path: 'Idempotency-Key',
        code: 'not_with_multipart',
        message: 'Is not supported with multipart/form-data. Send the document as JSON.',
      },
    ]);
  if (declarationOf(request).body?.bytes !== undefined)
    throw new InvalidInput('invalid_parameter', [
      {
        path: 'Idempotency-Key',
        code: 'not_with_bytes',
        message: 'Is not supported with the bytes of a file. Leave it out: the same file again changes nothing.',
      },
    ]);
  return key;
};

const isReplay = (accepted: Acceptance | Replay): accepted is Replay => 'status' in accepted;

const keptHeaders = (reply: FastifyReply, { answered }: Acceptance): Record<string, string> => ({
  ...Object.fromEntries(
    KEPT_HEADERS.flatMap((name) => (reply.hasHeader(name) ? [[name, String(reply.getHeader(name))]] : [])),
  ),
  ...(answered?.body === undefined || answered.body === null ? {} : JSON_TYPE),
});

/** Treat `not_found` as success when a deletion is repeated: the first one may have succeeded without an answer. */
const isDeletedBefore = ({ method }: FastifyRequest, { again }: Acceptance, status: number): boolean =>
  again && method === 'DELETE' && status === 404;
