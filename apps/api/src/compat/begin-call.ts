import type { Caller } from '@app/access';
import { type ModelDescription, type Models, UpstreamFailure } from '@app/models';
import { CallRecord, type CallToMeter, type Metering, RepeatedCall } from '@app/spending';
import type { FastifyReply } from 'fastify';
import { upstreamError } from './upstream-errors';

/** Holds what a caller's call may cost, and each time that it is made again. Rejects `usage_limit_exceeded`; a client that left meanwhile, of which nobody would be told any more, is called nothing for. */
export const beginCall = (
  metering: Metering,
  { rates }: Pick<Models, 'rates'>,
  { userId, keyId }: Caller,
  call: Omit<CallToMeter, 'userId' | 'keyId' | 'isAskedFor'>,
  { raw }: Pick<FastifyReply, 'raw'>,
): Promise<RepeatedCall> =>
  RepeatedCall.begin(async () => {
    const payer = { userId, ...(keyId === undefined ? {} : { keyId }) };
    const metered = await metering.begin({ ...call, ...payer, isAskedFor: true });
    if (raw.destroyed) {
      metered.cancel();
      throw upstreamError(new UpstreamFailure('aborted'));
    }
    return new CallRecord(metered, call.model, call.estimate.outputTokens, rates);
  });

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
