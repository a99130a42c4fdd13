import { type ModelDescription, type UpstreamCall, UpstreamFailure } from '@app/models';
import type { FastifyReply } from 'fastify';

/** The JSON that a provider answers with, and the model that did; the call ends when the client leaves. Rejects with an `UpstreamFailure`. */
export const wholeAnswer = async (call: UpstreamCall, reply: FastifyReply): Promise<{ readonly model: ModelDescription; readonly answer: unknown }> => {
  const left = (): void => call.abort();
  reply.raw.once('close', left);
  try {
    const { model, exchange } = await call.answer();
    return { model, answer: parsed(await exchange.whole()) };
  } finally {
    reply.raw.off('close', left);
    call.done();
  }
};

const parsed = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString()) as unknown;
  } catch {
    throw new UpstreamFailure('broken');
  }
};
