import { z } from 'zod';

/** Most that a key may spend in a window: a decimal amount in the currency of the instance. */
export const usageLimit = z.strictObject({
  amount: z.string().regex(/^(0|[1-9]\d{0,11})(\.\d{1,9})?$/, 'must be a decimal amount with at most 9 places'),
  window: z.enum(['day', 'week', 'month', 'total']),
});
export type UsageLimit = z.output<typeof usageLimit>;

/** The amount in nano-units. */
export const nanoUnits = (amount: string): bigint => {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
};
