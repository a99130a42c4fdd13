import { type AnswerReader, type UpstreamCall, UpstreamFailure } from '@app/models';
import type { FastifyReply } from 'fastify';

/** What `read` makes of what a provider answers; the call ends when the client leaves. Rejects with an `UpstreamFailure`. */
export const wholeAnswer = async <T>(call: UpstreamCall, { raw }: FastifyReply, read: AnswerReader<T>): Promise<T> => {
  const left = (): void => call.abort();
  raw.once('close', left);
  try {
    return await call.answer(read);
  } finally {
    raw.off('close', left);
    call.done();
  }
};

/** Reads JSON; throws `UpstreamFailure` for anything else. */
export const parsedAnswer = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString().replace(/^\ufeff/, '')) as unknown;
  } catch {
    throw new UpstreamFailure('broken');
  }
};
