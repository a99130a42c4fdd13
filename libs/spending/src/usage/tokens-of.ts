import { decimalAmount } from '@app/kernel';
import { type ShownUsage, shownUsage, type TokenUsage, usageOf } from '@app/models';
import type { RecordedInvocation } from '../invocations/invocation.events';

/** The tokens of a recorded call, with their details. */
export const tokensOf = ({
  inputTokens,
  cacheReadTokens,
  cacheWriteTokens,
  outputTokens,
  reasoningTokens,
}: RecordedInvocation): TokenUsage =>
  usageOf({
    input: inputTokens,
    cacheRead: cacheReadTokens,
    cacheWrite: cacheWriteTokens,
    output: outputTokens,
    reasoning: reasoningTokens,
  });

/** The usage of a recorded call as the wire has it. */
export const usageOfInvocation = (invocation: RecordedInvocation): ShownUsage =>
  shownUsage(
    {
      ...tokensOf(invocation),
      cost: decimalAmount(BigInt(invocation.cost)),
      currency: invocation.currency,
      isIncludedUsage: invocation.isIncludedUsage,
    },
    invocation.units,
  );
