import { costOf } from '@app/models';
import type { Hold } from '../account/account';
import type { CallReservation } from '../account/account.events';
import type { BegunCall } from '../call-reservation';
import type { Settlement } from '../metering';
import type { RecordedInvocation } from './invocation.events';

/** The record of a call that ended, at the prices of the model that answered. */
export const endedCall = (
  { id, at, call, isIncludedUsage }: BegunCall,
  { model, usage, units, usageSource, outcome, latencyMs }: Settlement,
  currency: string,
): RecordedInvocation => ({
  ...callerOf(id, { ...call, at: at.toISOString() }),
  model: model.key,
  priceVersion: model.priceVersion,
  inputTokens: usage.inputTokens,
  cacheReadTokens: usage.inputTokenDetails.cacheReadTokens,
  cacheWriteTokens: usage.inputTokenDetails.cacheWriteTokens,
  outputTokens: usage.outputTokens,
  reasoningTokens: usage.outputTokenDetails.reasoningTokens,
  ...(units === undefined ? {} : { units }),
  cost: costOf(usage, model.pricing, units).toString(),
  currency,
  isIncludedUsage,
  usageSource,
  latencyMs,
  outcome,
});

/** The record of a call whose process died: aborted, with its input as it was counted. */
export const lostCall = (
  id: string,
  { call, isIncluded }: Pick<Hold, 'isIncluded'> & { readonly call: CallReservation },
  currency: string,
): RecordedInvocation => ({
  ...callerOf(id, call),
  model: call.model,
  priceVersion: call.priceVersion,
  inputTokens: call.inputTokens,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  ...(call.units === undefined ? {} : { units: call.units }),
  cost: call.cost,
  // It was priced before the platform was given another one.
  currency: call.currency ?? currency,
  isIncludedUsage: isIncluded,
  usageSource: 'counted',
  latencyMs: 0,
  outcome: 'aborted',
});

/** Whom a call was for, and when it began. */
const callerOf = (
  id: string,
  {
    at,
    kind,
    userId,
    keyId,
    agentId,
    spaceId,
  }: Pick<CallReservation, 'at' | 'kind' | 'userId' | 'keyId' | 'agentId' | 'spaceId'>,
) => ({
  id,
  at,
  kind,
  userId,
  apiKeyId: keyId ?? null,
  agentId: agentId ?? null,
  spaceId: spaceId ?? null,
});
