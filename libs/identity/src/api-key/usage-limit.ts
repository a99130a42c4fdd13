import { amountText, timeZoneName } from '@app/kernel';
import { z } from 'zod';

/**
 * Most that a key may spend in a window: a decimal amount in the currency of the instance. It is the key's limit of cost
 * control, which may also name a time zone, an included amount, and that it only warns.
 */
export const usageLimit = z.strictObject({
  amount: amountText,
  window: z.enum(['day', 'week', 'month', 'total']),
  timeZone: timeZoneName.exactOptional(),
  action: z.enum(['block', 'warn']).exactOptional(),
  includedAmount: amountText.nullable().exactOptional(),
});
export type UsageLimit = z.output<typeof usageLimit>;
