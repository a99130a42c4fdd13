import { type ModelDescription, type UpstreamCall, UpstreamFailure } from '@app/models';
import type { FastifyReply } from 'fastify';

/** What `read` makes of the JSON that a provider answers with, and the model that did; the call ends when the client leaves. Rejects with an `UpstreamFailure`. */
export const wholeAnswer = async <T>(call: UpstreamCall, reply: FastifyReply, read: (answer: unknown) => T): Promise<T & { readonly served: ModelDescription }> => {
  const left = (): void => call.abort();
  reply.raw.once('close', left);
  try {
    return await call.answer(async ({ model, exchange }) => ({ ...read(parsed(await exchange.whole())), served: model }));
  } finally {
    reply.raw.off('close', left);
    call.done();
  }
};

const parsed = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString().replace(/^\ufeff/, '')) as unknown;
  } catch {
    throw new UpstreamFailure('broken');
  }
};
