import type { Uuid } from '@app/kernel';
import { costOf, highestCostOf, usageOf } from '@app/models';
import type { CallReservation } from './account/account.events';
import type { Answer } from './account/moves';
import type { AppliedLimit } from './limits/limits';
import type { CallToMeter } from './metering';

/** A limit that let a call begin. */
export interface GrantedReservation {
  readonly limit: AppliedLimit;
  readonly answer: Extract<Answer, { granted: true }>;
}

/** A call that was let through. */
export interface BegunCall {
  readonly id: Uuid;
  readonly at: Date;
  readonly call: CallToMeter;
  readonly held: readonly GrantedReservation[];
  readonly isIncludedUsage: boolean;
}

/** The data of a call in its reservation, for the process that finds it when its own process is dead. */
export const callReservationOf = (
  { kind, userId, keyId, agentId, spaceId, model, estimate: { inputTokens }, units }: CallToMeter,
  at: Date,
  currency: string,
): CallReservation => ({
  at: at.toISOString(),
  kind,
  userId,
  ...(keyId === undefined ? {} : { keyId }),
  ...(agentId === undefined ? {} : { agentId }),
  ...(spaceId === undefined ? {} : { spaceId }),
  model: model.key,
  priceVersion: model.priceVersion,
  inputTokens,
  ...(units === undefined ? {} : { units }),
  cost: costOf(usageOf({ input: inputTokens }), model.pricing, units).toString(),
  currency,
});

/** What a call may cost at most, nano-units: at the dearest of the models that may answer. */
export const estimated = ({
  model,
  mayAnswer = [],
  estimate: { inputTokens, outputTokens },
  mostInput = 0,
  units,
}: CallToMeter): bigint => {
  const tokens = { inputTokens: Math.max(inputTokens, mostInput), outputTokens };
  let most = highestCostOf(tokens, model.pricing, units);
  for (const { pricing } of mayAnswer) {
    const cost = highestCostOf(tokens, pricing, units);
    if (cost > most) most = cost;
  }
  return most;
};
