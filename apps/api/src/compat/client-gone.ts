import { type ModelDescription, UpstreamFailure } from '@app/models';
import type { FastifyReply } from 'fastify';

/** A signal that a client left, with the failure that a call of a local model ends with then; `forget` when it was answered. */
export const clientGone = (
  { raw }: FastifyReply,
  model: ModelDescription,
): { readonly signal: AbortSignal; readonly forget: () => void } => {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new UpstreamFailure('aborted', { work: { model, ms: 0 } }));
  raw.once('close', leave);
  return { signal: gone.signal, forget: () => void raw.off('close', leave) };
};
