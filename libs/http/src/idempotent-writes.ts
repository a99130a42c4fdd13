import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Acceptance, NO_BODY } from './idempotency';
import { InvalidInput } from './invalid-input';
import type { Replay } from './kept-answer';
import { isForReading } from './request';
import { assertStillShown } from './still-shown';

const KEY = /^[\x20-\x7e]{1,255}$/;
/** Headers that a repeat gets again, beside status and body. */
const KEPT_HEADERS = ['etag', 'location', 'x-log-position', 'content-type'] as const;

/** Implements `Idempotency-Key` for every write, except model calls of the compatible API. Passes requests without the header on unchanged. */
export const installIdempotency = (fastify: FastifyInstance): void => {
  fastify.addHook('onRoute', (route) => {
    if (isForReading(route) || route.config?.route?.requires === 'compat') return;
    route.preHandler = [acceptOrReplay];
    route.onSend = [settle];
  });
};

const acceptOrReplay = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
  const key = request.headers['idempotency-key'];
  if (key === undefined || request.caller === null) return undefined;
  if (typeof key !== 'string' || !KEY.test(key)) {
    throw new InvalidInput('invalid_parameter', [
      { path: 'Idempotency-Key', code: 'invalid_format', message: 'Must be 1 to 255 printable ASCII characters.' },
    ]);
  }
  // The body is an unread stream: a different body under the same key would look like a repeat.
  if (request.isMultipart())
    throw new InvalidInput('invalid_parameter', [
      {
        path: 'Idempotency-Key',
        code: 'not_with_multipart',
        message: 'Is not supported with multipart/form-data. Send the document as JSON.',
      },
    ]);
  const { idempotency } = request.server.edge;
  if (request.isTransient) {
    request.acceptance = idempotency.unkept(request.caller.actor, key);
    return undefined;
  }
  const accepted = await idempotency.accept(request.caller.actor, key, `${request.method} ${request.url}`, {
    digest: request.bodyDigest ?? NO_BODY,
    value: request.body,
  });
  if (isReplay(accepted)) {
    await assertStillShown(request.server.edge.access, request.caller, request.params, accepted);
    return reply
      .code(accepted.status)
      .headers(accepted.headers)
      .send(accepted.body ?? undefined);
  }
  request.acceptance = accepted;
  reply.raw.once('close', () => {
    // If the client left before the answer, `settle` still runs.
    if (reply.sent) idempotency.release(accepted);
  });
  return undefined;
};

const isReplay = (accepted: Acceptance | Replay): accepted is Replay => 'status' in accepted;

const settle = async (request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> => {
  const { acceptance } = request;
  if (acceptance === null) return payload;
  const { idempotency } = request.server.edge;
  if (isStream(payload)) {
    // A streamed answer cannot be kept. Once it is over, also where its client left in the middle, a repeat runs again.
    const release = (): void => idempotency.release(acceptance);
    if (reply.raw.closed) release();
    else reply.raw.once('close', release);
    return payload;
  }
  request.acceptance = null;
  const isDone = isDeletedBefore(request, acceptance, reply.statusCode);
  if (isDone) reply.code(204).removeHeader('content-type').removeHeader('content-length');
  const headers = Object.fromEntries(
    KEPT_HEADERS.flatMap((name) => (reply.hasHeader(name) ? [[name, String(reply.getHeader(name))]] : [])),
  );
  await idempotency.settle(acceptance, {
    status: reply.statusCode,
    headers,
    hasWritten: request.progress?.hasWritten === true,
  });
  return isDone ? null : payload;
};

/** Treat `not_found` as success when a deletion is repeated: the first one may have succeeded without an answer. */
const isDeletedBefore = ({ method }: FastifyRequest, { again }: Acceptance, status: number): boolean =>
  again && method === 'DELETE' && status === 404;

const isStream = (payload: unknown): boolean => typeof payload === 'object' && payload !== null && 'pipe' in payload;
