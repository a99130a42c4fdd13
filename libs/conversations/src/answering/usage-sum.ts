import { decimalAmount, nanoUnits } from '@app/kernel';
import type { InvocationUsage } from '@app/models';

/**
 * Of calls for one answer; included in the limit if all are. What the first cost in another currency, before the platform was given its
 * own, is left out, as in reports.
 */
export const usageSum = (a: InvocationUsage, b: InvocationUsage): InvocationUsage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  inputTokenDetails: {
    noCacheTokens: a.inputTokenDetails.noCacheTokens + b.inputTokenDetails.noCacheTokens,
    cacheReadTokens: a.inputTokenDetails.cacheReadTokens + b.inputTokenDetails.cacheReadTokens,
    cacheWriteTokens: a.inputTokenDetails.cacheWriteTokens + b.inputTokenDetails.cacheWriteTokens,
  },
  outputTokens: a.outputTokens + b.outputTokens,
  outputTokenDetails: {
    textTokens: a.outputTokenDetails.textTokens + b.outputTokenDetails.textTokens,
    reasoningTokens: a.outputTokenDetails.reasoningTokens + b.outputTokenDetails.reasoningTokens,
  },
  totalTokens: a.totalTokens + b.totalTokens,
  cost: a.currency === b.currency ? decimalAmount(nanoUnits(a.cost) + nanoUnits(b.cost)) : b.cost,
  currency: b.currency,
  isIncludedUsage: a.isIncludedUsage && b.isIncludedUsage,
});
