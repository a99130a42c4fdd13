import { decimalAmount } from '@app/kernel';
import { z } from 'zod';
import type { RecordedInvocation } from '../invocations/invocation.events';

/** Sums of calls. Amounts are nano-units; `includedCost` is the part of `cost` that an included amount covers. */
export interface UsageSums {
  calls: number;
  inputTokens: number;
  /** The part of the input that was read from a cache. */
  cachedInputTokens: number;
  outputTokens: number;
  cost: bigint;
  includedCost: bigint;
}

/** Sums on the wire: amounts are decimals. */
export const usageSums = z.object({
  calls: z.number().int().describe('The number of model calls.'),
  inputTokens: z.number().int().describe('Input tokens, including cached ones.'),
  cachedInputTokens: z.number().int().describe('Tokens read from a cache.'),
  outputTokens: z.number().int().describe('Output tokens.'),
  cost: z.string().describe('What they cost, a decimal.'),
  includedCost: z.string().describe('The part of the cost covered by included usage, a decimal.'),
});
export type ShownUsageSums = z.output<typeof usageSums>;

/** Sums of no call. */
export const noUsage = (): UsageSums => ({
  calls: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  cost: 0n,
  includedCost: 0n,
});

/** Adds to the first sums in place. */
export const addUsage = (sums: UsageSums, more: Readonly<UsageSums>): void => {
  sums.calls += more.calls;
  sums.inputTokens += more.inputTokens;
  sums.cachedInputTokens += more.cachedInputTokens;
  sums.outputTokens += more.outputTokens;
  sums.cost += more.cost;
  sums.includedCost += more.includedCost;
};

/** One call as sums. */
export const usageOfOne = ({
  inputTokens,
  cacheReadTokens,
  outputTokens,
  cost,
  isIncludedUsage,
}: RecordedInvocation): UsageSums => {
  const nano = BigInt(cost);
  return {
    calls: 1,
    inputTokens,
    cachedInputTokens: cacheReadTokens,
    outputTokens,
    cost: nano,
    includedCost: isIncludedUsage ? nano : 0n,
  };
};

/** Sums as the API answers them: amounts as decimal texts. */
export const shownSums = ({ cost, includedCost, ...counts }: Readonly<UsageSums>): ShownUsageSums => ({
  ...counts,
  cost: decimalAmount(cost),
  includedCost: decimalAmount(includedCost),
});
